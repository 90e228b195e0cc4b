import { DataSource, type EntityManager } from 'typeorm';
import type { Statements } from '../../src/database/statements';
import { Retry } from '../../src/database/errors';
import type { Writes } from '../../src/database/writes';
import { IndustryEventsRepository } from '../../src/industry-events/industry-events.repository';
import { startInProcess } from '../support/lanyard';

describe('creating an industry event', () => {
  it('is tried again when the record in the way has been given another URL since', async () => {
    // The insert was in conflict, and then nothing is found.
    const insert = { insert: () => insert, into: () => insert, values: () => insert, orIgnore: () => insert };
    Object.assign(insert, { returning: () => insert, execute: () => Promise.resolve({ raw: [] }) });
    const manager = { createQueryBuilder: () => insert } as unknown as EntityManager;
    const writes = { transaction: (_: unknown, work: (inside: EntityManager) => unknown) => work(manager) };
    const statements = { all: () => Promise.resolve([]) } as unknown as Statements;
    const repository = new IndustryEventsRepository(statements, writes as unknown as Writes);
    const caller = { keyId: 'k', organizationId: 1, maxTokens: 1, refillRate: 1 };
    await expect(repository.create(caller, { name: 'Expo', eventUrl: 'u' })).rejects.toBeInstanceOf(Retry);
  });

  it('is 503 while an import of the catalogue is written', async () => {
    const lanyard = await startInProcess();
    const tenant = await lanyard.tenant();
    const post = (n: number) =>
      tenant.api.post('/industryEvents', { name: `Expo ${n}`, eventUrl: `https://expo.example/${n}` });
    await post(1).expect(200);
    await lanyard.app.get(DataSource).transaction(async (importing) => {
      await importing.query(`select list_take(0, 'industry_events', 1)`);
      const answers = await Promise.all([1, 2].map((n) => post(n).then((answer) => answer)));
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      expect(answers[0]?.headers['retry-after']).toBe('1');
    });
    await post(2).expect(200);
  });
});
