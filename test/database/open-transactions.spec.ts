import { Client } from 'pg';
import { Pruner } from '../../src/data/database/pruner';
import { query } from '../../src/testing/test-database';
import { Random } from '../prove/support/random';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';
import { startInProcess, type Tenant } from '../support/lanyard';
import type { ChangesPage } from '../support/replica';
import { migrate } from '../support/contexts';

const OPEN = 2000;
const PAGE = 200;
/** Transactions of a round trip. */
const AT_ONCE = 100;
/** Of the open ones, so many are committed at last. */
const COMMITTED = 100;

const embedded = new EmbeddedFixtures();
afterAll(() => embedded.clean());

/** A PostgreSQL that may have so many prepared transactions, which are open ones that need no connection. */
async function startPostgres(): Promise<string> {
  const dataDir = embedded.dataDir();
  const postgres = await embedded.start({ dataDir });
  for (const setting of [`max_prepared_transactions = ${OPEN + 10}`, 'fsync = off', 'synchronous_commit = off']) {
    await query(postgres.url, `alter system set ${setting}`);
  }
  await embedded.stop();
  const { url } = await embedded.start({ dataDir });
  await migrate(url);
  return url;
}

const change = (organizationId: number): string =>
  `insert into changes (organization_id, resource, operation, id) values (${organizationId}, 4, 'd', gen_random_uuid());`;

/** A prepared transaction and a committed one in turn, and between them as many of other organizations as it happens. */
async function prepareTransactions(client: Client, organizationId: number): Promise<void> {
  const random = new Random(7);
  const other = 'begin; select pg_current_xact_id(); commit;';
  for (let first = 0; first < OPEN; first += AT_ONCE) {
    const texts = Array.from({ length: AT_ONCE }, (_, n) => {
      const prepared = `begin; ${change(organizationId)} prepare transaction 'open ${first + n}';`;
      return `${other.repeat(random.below(4))} ${prepared} begin; ${change(organizationId)} commit;`;
    });
    await client.query(texts.join('\n'));
  }
}

/** Reads on until nothing is left. */
async function follow({ api }: Tenant, from: string): Promise<{ cursor: string; ids: string[]; pages: number }> {
  const ids: string[] = [];
  let [cursor, pages] = [from, 0];
  for (let hasMore = true; hasMore; pages++) {
    // Twice the pages that there can be: a page that makes no progress would go on for ever.
    expect(pages).toBeLessThan((4 * OPEN) / PAGE);
    const { body } = await api.get('/changes', { cursor, limit: PAGE }).expect(200);
    const page = body.results as ChangesPage;
    expect(page.cursor.length).toBeLessThanOrEqual(1024);
    ids.push(...page.changes.map(({ id }) => String(id)));
    cursor = page.cursor;
    hasMore = page.hasMore;
  }
  return { cursor, ids, pages };
}

describe('the feed, while two thousand transactions are open', () => {
  it('makes progress with each page, emits all that is committed, and later the rest, each once', async () => {
    const url = await startPostgres();
    const server = await startInProcess({ databaseUrl: url });
    const client = new Client({ connectionString: url });
    await client.connect();
    const tenant = await server.tenant();
    const { body } = await tenant.api.get('/changes', { since: 'now' }).expect(200);
    await prepareTransactions(client, tenant.organizationId);

    const first = await follow(tenant, body.results.cursor as string);
    expect(new Set(first.ids).size).toBe(OPEN);
    expect(first).toMatchObject({ ids: { length: OPEN }, pages: OPEN / PAGE });
    expect(await follow(tenant, first.cursor)).toMatchObject({ ids: [], pages: 1 });
    const [stored] = await query(url, 'select count(*)::integer as rows from cursor_positions');
    expect(stored?.rows).toBeGreaterThan(0);

    const step = OPEN / COMMITTED;
    for (let n = 0; n < OPEN; n += step) await client.query(`commit prepared 'open ${n}'`);
    const second = await follow(tenant, first.cursor);
    expect(second.ids).toHaveLength(COMMITTED);
    expect(new Set([...first.ids, ...second.ids]).size).toBe(OPEN + COMMITTED);

    await query(url, `update cursor_positions set used_at = now() - interval '31 days'`);
    await server.app.get(Pruner).prune();
    expect(await query(url, 'select from cursor_positions')).toEqual([]);
    await tenant.api.get('/changes', { cursor: first.cursor }).expect(410);
    await client.end();
    await server.stop();
  }, 180_000);
});
