import type { EntityManager } from 'typeorm';
import type { Statements } from '../src/database/statements';
import { TryAgain } from '../src/database/transaction';
import type { Writes } from '../src/database/writes';
import { IndustryEventsService } from '../src/industry-events/industry-events.service';

describe('creating an industry event', () => {
  it('is tried again when the record in the way has been given another URL since', async () => {
    // The insert was in conflict, and then nothing is found.
    const insert = { insert: () => insert, into: () => insert, values: () => insert, orIgnore: () => insert };
    Object.assign(insert, { returning: () => insert, execute: () => Promise.resolve({ raw: [] }) });
    const manager = {
      createQueryBuilder: () => insert,
      queryRunner: { connect: () => Promise.resolve({ query: () => Promise.resolve({ rows: [] }) }) },
    } as unknown as EntityManager;
    const writes = { transaction: (_: unknown, work: (inside: EntityManager) => unknown) => work(manager) };
    const service = new IndustryEventsService({} as Statements, writes as unknown as Writes);
    const caller = { keyId: 'k', organizationId: 1, maxTokens: 1, refillRate: 1 };
    await expect(service.create(caller, { name: 'Expo', eventUrl: 'u' })).rejects.toBeInstanceOf(TryAgain);
  });
});
