import { DataSource } from 'typeorm';
import { startInProcess } from '../support/lanyard';

describe('creating an industry event', () => {
  it('is 503 while an import of the catalogue is written, unless its eventUrl is known', async () => {
    const lanyard = await startInProcess();
    const tenant = await lanyard.tenant();
    const post = (n: number) =>
      tenant.api.post('/industryEvents', { name: `Expo ${n}`, eventUrl: `https://expo.example/${n}` });
    await post(1).expect(200);
    await lanyard.app.get(DataSource).transaction(async (importing) => {
      await importing.query(`select list_take(0, 'industry_events', 1)`);
      const answers = await Promise.all([1, 2].map((n) => post(n).then((answer) => answer)));
      expect(answers.map(({ status }) => status)).toEqual([200, 503]);
      expect(answers[1]?.headers['retry-after']).toBe('1');
    });
    await post(2).expect(200);
  });
});
