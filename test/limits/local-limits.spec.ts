import { COUNT_SERVERS_WITHOUT_REDIS, LocalLimits } from '../../src/http/rate-limit/local-limits';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { type InProcess, startInProcess } from '../support/lanyard';
import { waitUntil } from '../support/wait';

const HOLDERS = `
  select pid from pg_locks where locktype = 'advisory' and classid = 0 and objid = 7261916
    and database = (select oid from pg_database where datname = current_database())`;

describe('servers without Redis', () => {
  let database: TestDatabase;
  const servers: InProcess[] = [];
  const warningOfNext = async (webhooks: 'on' | 'off' = 'on'): Promise<string | undefined> => {
    const server = await startInProcess({ databaseUrl: database.url, redisUrl: undefined, webhooks });
    servers.push(server);
    return server.app.get(LocalLimits).warning();
  };
  const count = async () => (await query(database.url, COUNT_SERVERS_WITHOUT_REDIS))[0]?.servers;

  it('warn of each other, also after their connections were lost, and not of those that have ended', async () => {
    database = await createTestDatabase();
    expect(await warningOfNext()).toBeUndefined();
    expect(await warningOfNext('off')).toMatch(/^2 servers without Redis use .* its limits 2 times\./);
    const before = await query(database.url, HOLDERS);
    await query(database.url, `select pg_terminate_backend(pid) from (${HOLDERS}) holders`);
    await waitUntil(async () => {
      const now = await query(database.url, HOLDERS);
      return now.length === 2 && !now.some(({ pid }) => before.some((old) => old.pid === pid));
    });
    expect(await warningOfNext()).toMatch(/^3 servers without Redis use .* its limits 3 times\./);
    for (const server of servers) await server.stop();
    await waitUntil(async () => (await count()) === 0);
  });

  it('have no warning when their database does not answer', async () => {
    const server = await startInProcess({ redisUrl: undefined });
    const limits = server.app.get(LocalLimits);
    await server.stop();
    expect(await limits.warning()).toBeUndefined();
  });
});
