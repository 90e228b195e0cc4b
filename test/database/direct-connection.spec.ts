import { ConfigError } from '../../src/config';
import { createTestDatabase } from '../support/database';
import { startPooler } from '../support/servers/pooler';
import { migrate } from '../support/contexts';

const ADVICE = 'Connect to PostgreSQL directly, not through a pooler such as PgBouncer in transaction mode.';

describe('a start on a connection that is not PostgreSQL’s own', () => {
  let url: string;
  beforeAll(async () => void ({ url } = await createTestDatabase()));

  const lineOf = async (start: Promise<unknown>): Promise<string> => {
    const failed = (await start.catch((error: unknown) => error)) as ConfigError;
    expect(failed).toBeInstanceOf(ConfigError);
    return failed.message;
  };

  it('ends with one line, before it migrates: a pooler that ignores the settings of sessions', async () => {
    const line = await lineOf(migrate(await startPooler(url)));
    expect(line).toBe(`DATABASE_URL: the settings of sessions are ignored. ${ADVICE}`);
  });

  it('ends with one line: a pooler whose clients share a session', async () => {
    const line = await lineOf(migrate(await startPooler(url, { isShared: true })));
    expect(line).toBe(`DATABASE_URL: two connections share one session. ${ADVICE}`);
  });

  it('goes on where each client has a session of its own', async () => {
    expect(await migrate(url)).toEqual([]);
  });
});
