import { Client } from 'pg';
import { requiresNewConnection } from '../../src/data/database/errors';
import { LargeResult } from '../../src/errors/exceptions';
import { FairQueue } from '../../src/data/database/fair-queue';
import { LargeResultGuard } from '../../src/data/database/large-result-guard';
import { LARGE_RESULTS_MS } from '../../src/data/database/limits';
import { createTestDatabase } from '../support/database';
import { waitUntil } from '../support/wait';

describe('large results of one organization', () => {
  const queue = new FairQueue(10);
  const results = new LargeResultGuard(queue);
  const clients: Client[] = [];
  let url: string;
  beforeAll(async () => void ({ url } = await createTestDatabase()));
  afterAll(() => Promise.all(clients.map((client) => client.end())));

  const connected = async (): Promise<Client> => {
    const client = new Client(url);
    clients.push(client);
    await client.connect();
    return client;
  };
  const LOCK = 12;
  /** Rows of a quarter of a mebibyte. The last one waits for the lock. */
  const read = async (organizationId: number, rows: number): Promise<number> => {
    const client = await connected();
    const text = `select repeat('x', 1 << 18) || case when n = $1 then pg_advisory_xact_lock(${LOCK})::text else '' end
      from generate_series(1, $1) n`;
    return new Promise((resolve, reject) => {
      const done = (error: Error | undefined, { rows }: { rows: unknown[] }) => {
        if (error) reject(error);
        else resolve(rows.length);
      };
      results.query(client, organizationId, { text, values: [rows], rowMode: 'array' }, done);
    });
  };

  it('are received one at a time, and small ones and those of others beside them', async () => {
    const holder = await connected();
    await holder.query(`select pg_advisory_lock(${LOCK})`);
    const first = read(1, 8);
    const waiting = async () =>
      (
        await holder.query(`select from pg_locks where locktype = 'advisory' and not granted and objid = ${LOCK}
        and database = (select oid from pg_database where datname = current_database())`)
      ).rowCount;
    await waitUntil(async () => (await waiting()) === 1);
    const error: unknown = await read(1, 8).catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(LargeResult);
    expect(requiresNewConnection(error)).toBe(true);
    const others = Promise.all([read(1, 4), read(2, 8)]);
    await holder.query('select pg_advisory_unlock_all()');
    expect(await Promise.all([first, others])).toEqual([8, [4, 8]]);
  });

  it('have the requests of their organization run one after another for a while, and no other', async () => {
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const run = (organizationId: number) =>
      queue.run(organizationId, () => {
        started.push(organizationId);
        return new Promise<void>((end) => ends.push(end));
      });
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    queue.limitToOne(3);
    const all = [run(3), run(3), run(4), run(4)];
    expect(started).toEqual([3, 4, 4]);
    jest.advanceTimersByTime(LARGE_RESULTS_MS);
    all.push(run(3));
    expect(started).toEqual([3, 4, 4, 3]);
    for (let n = 0; n < all.length; n++) {
      ends[n]?.();
      await new Promise(setImmediate);
    }
    await Promise.all(all);
    jest.useRealTimers();
    expect(started).toEqual([3, 4, 4, 3, 3]);
  });
});
