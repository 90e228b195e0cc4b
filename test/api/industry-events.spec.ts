import { DataSource, type EntityManager } from 'typeorm';
import type { Statements } from '../../src/database/statements';
import { Retry } from '../../src/database/errors';
import type { Writes } from '../../src/database/writes';
import { IndustryEventsService } from '../../src/industry-events/industry-events.service';
import { ImportService } from '../../src/cli/import/import.service';
import { startInProcess } from '../support/lanyard';

describe('creating an industry event', () => {
  it('runs again when the record in the way has been given another URL since', async () => {
    // The insert was in conflict, and then nothing is found.
    const insert = { insert: () => insert, into: () => insert, values: () => insert, orIgnore: () => insert };
    Object.assign(insert, { returning: () => insert, execute: () => Promise.resolve({ raw: [] }) });
    const manager = { createQueryBuilder: () => insert } as unknown as EntityManager;
    const writes = { transaction: (_: unknown, work: (inside: EntityManager) => unknown) => work(manager) };
    const statements = { all: () => Promise.resolve([]) };
    const service = new IndustryEventsService(statements as unknown as Statements, writes as unknown as Writes);
    const caller = { keyId: 'k', organizationId: 1, maxTokens: 1, refillRate: 1 };
    await expect(service.create(caller, { name: 'Expo', eventUrl: 'u' })).rejects.toBeInstanceOf(Retry);
  });

  it('does not wait for an import that brings its eventUrl, nor do others wait for that', async () => {
    const lanyard = await startInProcess();
    const tenant = await lanyard.tenant();
    const input = (n: number) => ({ name: `Expo ${n}`, eventUrl: `https://expo.example/${n}` });
    const posts = (...numbers: number[]) =>
      Promise.all(numbers.map((n) => tenant.api.post('/industryEvents', input(n)).then((answer) => answer)));
    async function* records() {
      // Two batches: the first one is written when the second one is read.
      for (let n = 0; n < 2000; n++) yield { section: 'industryEvents' as const, record: input(n) };
      const inTheWay = Array.from({ length: 7 }, (_, n) => n);
      const answers = await posts(...inTheWay, 3001, 3002, 3003);
      expect(answers.map(({ status }) => status)).toEqual([...inTheWay.map(() => 503), 200, 200, 200]);
      expect(answers[0]?.headers['retry-after']).toBe('1');
    }
    await new ImportService(lanyard.app.get(DataSource).manager).importRecords(tenant.organizationId, records());
    const [after] = await posts(1);
    expect(after).toMatchObject({ status: 200, body: { results: { created: false } } });
  });
});
