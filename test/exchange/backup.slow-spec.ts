import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import request from 'supertest';
import { DEMO_RECORDS } from '../../src/operator/demo/demo';
import { query } from '../../src/testing/test-database';
import { runAtEnd } from '../support/jest/at-the-end';
import { eventInput, createExhibitor, industryEventInput, leadInput, phone } from '../support/builders';
import type { ApiClient } from '../support/client';
import { asOperator, createDatabase } from '../support/database';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { install, Operator } from '../support/operator';
import { describeUnless, missingProgramReason } from '../support/skipping';
import { migrate } from '../support/contexts';
import { waitUntil } from '../support/wait';

/** What must be there again after a backup was restored. */
interface Filled {
  tenants: { key: string; organizationId: number; answers: Map<string, string> }[];
  revoked: string;
  /** a lead that was sent under an Idempotency-Key, and what was answered */
  repeated: { key: string; answer: string };
}

/** Why there is no pg_dump that reads the server, which is no newer than itself. */
function noPgDump(): string {
  const [, version = '0'] = /(\d+)/.exec(spawnSync('pg_dump', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
  const server = Number(process.env.LANYARD_TEST_SERVER_MAJOR);
  const tooOld = Number(version) < server ? ` (skipped: pg_dump ${version} cannot read a PostgreSQL ${server})` : '';
  return missingProgramReason('pg_dump', 'pg_restore') || tooOld;
}
const NO_PG_DUMP = noPgDump();

describe('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-backup-'));
  const embedded = new EmbeddedFixtures();
  afterAll(async () => {
    await embedded.clean();
    rmSync(folder, { recursive: true, force: true });
  });

  describeUnless(NO_PG_DUMP)(`by pg_dump${NO_PG_DUMP}`, () => {
    it('gives every answer byte for byte, in an empty database', async () => {
      const source = await install();
      const filled = await fill(source.server);
      const target = await createDatabase();
      // The commands of docs/operations.md.
      const [run, file] = [promisify(execFile), join(folder, 'lanyard.dump')];
      await run('pg_dump', ['-Fc', '-f', file, source.database.url]);
      await run('pg_restore', ['--no-owner', '--exit-on-error', '--single-transaction', '-d', target.url, file]);
      await source.server.stop();

      expect(await migrate(target.url)).toEqual([]);
      const restored = await startInProcess({ databaseUrl: target.url });
      await expectAllOf(filled, restored, new Operator({ DATABASE_URL: target.url }));
    }, 90_000);
  });

  describe('by lanyard backup, while clients write', () => {
    const file = join(folder, 'lanyard.backup');
    let filled: Filled;
    let acknowledged: string[];
    let webhook: string;
    let busy: Tenant;

    beforeAll(async () => {
      const source = await install();
      filled = await fill(source.server);
      busy = await source.server.tenant();
      const create = ['webhooks', 'create', '--organization', String(busy.organizationId)];
      const { id } = await source.operator.json<{ id: string }>([...create, '--url', 'http://127.0.0.1:9/hook']);
      webhook = id;
      acknowledged = [];
      const stop = new AbortController();
      const writes = [1, 2, 3].map(() => createLeads(busy.api, acknowledged, stop.signal));
      await waitUntil(() => acknowledged.length > 10);
      const before = [...acknowledged];
      // The backup waits for a table that no lead needs, until some more are written.
      const holder = (await asOperator(source.database.url)).createQueryRunner();
      await holder.startTransaction();
      await holder.query('lock table industry_events in access exclusive mode');
      const backup = source.operator.json<{ backedUp: Record<string, number> }>(['backup', file]);
      const waiting = "select from pg_locks where relation = 'industry_events'::regclass and not granted";
      await waitUntil(async () => (await query(source.database.url, waiting)).length > 0);
      const count = acknowledged.length;
      await waitUntil(() => acknowledged.length > count);
      await holder.rollbackTransaction();
      const { backedUp } = await backup;
      stop.abort();
      await Promise.all(writes);
      acknowledged = before;
      expect(backedUp.leads).toBeGreaterThanOrEqual(before.length);
      await source.server.stop();
    }, 90_000);

    const expectInstallation = async (url: string) => {
      const operator = new Operator({ DATABASE_URL: url });
      // Before the first start, too: it must be seen that nothing will be sent.
      expect(await operator.json(['status'])).toMatchObject({ webhooks: { paused: 1, active: 0, failing: 0 } });
      const restored = await startInProcess({ databaseUrl: url });
      const client = restored.client(busy.key);
      const statuses = await Promise.all(acknowledged.map(async (id) => (await client.get(`/leads/${id}`)).status));
      expect(statuses).toEqual(acknowledged.map(() => 200));
      expect(await operator.json(['webhooks', 'list', '--organization', String(busy.organizationId)])).toEqual([
        expect.objectContaining({ id: webhook, state: 'paused' }),
      ]);
      expect(await query(url, 'select from pg_constraint where not convalidated')).toEqual([]);
      await expectAllOf(filled, restored, operator);
      await restored.stop();
    };

    it('gives every answer byte for byte, in an empty database of a role that is no superuser', async () => {
      const { url } = await createDatabase();
      const owner = `owner_${randomBytes(6).toString('hex')}`;
      const database = new URL(url).pathname.slice(1);
      await query(url, `create role ${owner} login password '${owner}'; alter database ${database} owner to ${owner}`);
      runAtEnd(() =>
        query(url, `reassign owned by ${owner} to current_user; drop owned by ${owner}; drop role ${owner}`),
      );
      const owned = Object.assign(new URL(url), { username: owner, password: owner }).href;
      const result = await new Operator({ DATABASE_URL: owned }).json<{ skipped: string[]; applied: string[] }>([
        'restore',
        file,
      ]);
      expect(result).toMatchObject({ skipped: [], applied: [] });
      await expectInstallation(owned);
    }, 90_000);

    it('gives every answer byte for byte, in an empty directory', async () => {
      const dataDir = embedded.dataDir();
      const { status, stdout } = await new Operator({ LANYARD_DATA_DIR: dataDir }).run(['restore', file]);
      expect({ status, stdout }).toEqual({
        status: 0,
        stdout: expect.stringMatching(/^restored +.*organizations \d+/),
      });
      await expectInstallation((await embedded.start({ dataDir })).url);
    }, 90_000);
  });

  describe('of the embedded PostgreSQL, by a copy of its directory while it is stopped', () => {
    it('gives every answer byte for byte, in another place', async () => {
      const dataDir = embedded.dataDir();
      const postgres = await embedded.start({ dataDir });
      await migrate(postgres.url);
      const server = await startInProcess({ databaseUrl: postgres.url });
      const filled = await fill(server);
      await server.stop();
      await postgres.stop();
      const copy = embedded.dataDir();
      const archive = join(folder, 'lanyard.tar.gz');
      execFileSync('tar', ['-czf', archive, '-C', dataDir, '.']);
      mkdirSync(copy);
      execFileSync('tar', ['-xpzf', archive, '-C', copy]);

      const { url } = await embedded.start({ dataDir: copy });
      const restored = await startInProcess({ databaseUrl: url });
      await expectAllOf(filled, restored, new Operator({ DATABASE_URL: url }));
      await restored.stop(); // before its PostgreSQL
    }, 90_000);
  });
});

/** Creates leads one after another; `acknowledged` gets the id of each when its response is there. */
async function createLeads(api: ApiClient, acknowledged: string[], stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const { body } = await api.post('/leads', leadInput()).expect(200);
    acknowledged.push((body as { results: { id: string } }).results.id);
  }
}

/** Two organizations, by import and through the API, with all that a dump could lose. */
async function fill(server: InProcess): Promise<Filled> {
  const [first, second] = [await server.tenant(), await server.tenant()];
  await first.import(DEMO_RECORDS);
  const { dataset, note, activity } = createExhibitor();
  await second.import({ ...dataset, leadActivityEvents: [note, activity({ eventType: 'PHONE' })] });
  for (const { api } of [first, second]) await write(api);
  const { key, id } = await second.issueKey({});
  await new Operator({ DATABASE_URL: server.config.databaseUrl }).json(['keys', 'revoke', id]);
  const repeated = { key: first.key, answer: await repeat(server, first.key) };
  const tenants = [];
  for (const { api, key, organizationId } of [first, second]) {
    tenants.push({ key, organizationId, answers: await allAnswers(api) });
  }
  return { tenants, revoked: key, repeated };
}

async function write(api: ApiClient): Promise<void> {
  const { body: event } = await api.post('/events', eventInput()).expect(200);
  const { body: lead } = await api.post('/leads', leadInput({ firstName: 'Éva "\\"', lastName: '🦊\t' })).expect(200);
  const { body: gone } = await api.post('/leads', leadInput()).expect(200);
  await api
    .put(`/events/${event.results.id}/leads`, {
      eventLeads: [{ leadId: lead.results.id }, { leadId: gone.results.id }],
    })
    .expect(200);
  await api.delete(`/leads/${gone.results.id}`).expect(200);
  const remoteId = { id: 'crm-1', integrationType: 'ZOHO' };
  await api.patch(`/leads/${lead.results.id}`, { phoneNumbers: [phone()], remoteId }).expect(200);
  const { body: expo } = await api.post('/industryEvents', industryEventInput({ venueCity: 'Wrocław' })).expect(200);
  await api.post(`/industryEvents/${expo.results.industryEvent.id}/bookmark`).expect(200);
}

/** Sends one lead under one Idempotency-Key, however often it is called. */
async function repeat(server: InProcess, key: string): Promise<string> {
  const sent = request(server.baseUrl).post('/leads').set({ 'x-api-key': key, 'idempotency-key': 'scan-1' });
  const { text } = await sent.send(leadInput({ lastName: 'Once' })).expect(200);
  return text;
}

async function expectAllOf({ tenants, revoked, repeated }: Filled, server: InProcess, operator: Operator) {
  expect(await repeat(server, repeated.key)).toBe(repeated.answer);
  for (const { key, answers } of tenants) {
    expect(answers.size).toBeGreaterThan(20);
    expect(await allAnswers(server.client(key))).toEqual(answers);
  }
  await server.client(revoked).get('/leads').expect(403);
  const found = await operator.json<{ documents: object; lists: object }>(['check']);
  expect(found).toMatchObject({ documents: { wrong: 0 }, lists: { wrong: 0 } });
  for (const { key } of tenants) await write(server.client(key));
  await expectNewNumbers(tenants, operator);
}

/** Identity columns go on behind what was restored. */
async function expectNewNumbers(tenants: Pick<Tenant, 'key' | 'organizationId'>[], operator: Operator): Promise<void> {
  const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Late']);
  expect(id).toBeGreaterThan(Math.max(...tenants.map(({ organizationId }) => organizationId)));
  await operator.json(['import', '-', '--organization', String(id)], JSON.stringify(createExhibitor().dataset));
  expect(await operator.json(['check'])).toMatchObject({ documents: { wrong: 0 }, lists: { wrong: 0 } });
}

const LISTS = ['events', 'leads', 'leadActivityEvents', 'activations', 'tagGroups', 'industryEvents'];

/** What a client gets from every GET, as text: all pages of all lists, every single record, and some searches. */
async function allAnswers(api: ApiClient): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const read = async (path: string): Promise<{ results: Record<string, { id: string | number }[]> }> => {
    const { text, body } = await api.get(path).expect(200);
    answers.set(path, text);
    return body as { results: Record<string, { id: string | number }[]> };
  };
  const list = async (path: string, name: string) => {
    const items: { id: string | number }[] = [];
    for (let offset = 0, page = 5; page === 5; offset++) {
      const found = (await read(`${path}?limit=5&offset=${offset}`)).results[name] ?? [];
      items.push(...found);
      page = found.length;
    }
    return items;
  };
  for (const name of LISTS) {
    for (const { id } of await list(`/${name}`, name)) {
      await read(`/${name}/${id}`);
      if (name === 'leads') await read(`/leadActivityEvents?leadId=${id}`);
      if (name !== 'events') continue;
      await list(`/events/${id}/leads`, 'eventLeads');
      await list(`/events/${id}/users`, 'users');
    }
  }
  await read('/industryEvents/bookmarks');
  await read('/industryEvents?q=wroclaw%20or%20pumps%20-nothing');
  await read('/leadActivityEvents?eventType=NOTE');
  return answers;
}
