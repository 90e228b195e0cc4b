import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IssuedKey } from '../../src/access/api-keys.service';
import { generateKey } from '../../src/access/key-format';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { EmbeddedFixtures } from '../support/servers/embedded-fixtures';
import { Operator, waitForOutcome } from '../support/operator';

const DATE_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
const KEY = expect.stringMatching(/^lan_[0-9A-Za-z]{49}$/) as string;

describe("the operator's command line", () => {
  let database: TestDatabase;
  let operator: Operator;
  let organization: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    operator = new Operator({ DATABASE_URL: database.url });
    organization = String(await create('Cobalt Systems'));
  });

  const create = async (name: string): Promise<number> =>
    (await operator.json<{ id: number }>(['organizations', 'create', '--name', name])).id;
  const issue = (...options: string[]): Promise<IssuedKey> =>
    operator.json(['keys', 'issue', '--organization', organization, ...options]);

  describe('organizations', () => {
    it('are created, and listed with their numbers of keys and leads', async () => {
      const created = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Łódź "Labs"']);
      expect(created).toEqual({ id: expect.any(Number) as number, name: 'Łódź "Labs"' });
      const lead = JSON.stringify({ leads: [{ id: randomUUID() }] });
      await operator.json(['import', '-', '--organization', String(created.id)], lead);
      const all = await operator.json<{ id: number }[]>(['organizations', 'list']);
      expect(all.find(({ id }) => id === created.id)).toEqual({ ...created, keys: 0, leads: 1 });
    });

    it('are shown to a person as text', async () => {
      const created = await operator.run(['organizations', 'create', '--name', 'Quarry Labs']);
      expect(created).toEqual({
        status: 0,
        stdout: expect.stringMatching(/^id +\d+\nname +Quarry Labs\n$/) as string,
        stderr: '',
      });
      const { stdout } = await operator.run(['organizations', 'list']);
      expect(stdout).toMatch(/id .* name .* keys .* leads/);
      expect(stdout).toContain('Quarry Labs');
    });
  });

  describe('an organization', () => {
    it('is renamed', async () => {
      const id = await create('Quarry');
      expect(await operator.json(['organizations', 'rename', String(id), '--name', 'Quarry Labs'])).toEqual({
        id,
        name: 'Quarry Labs',
      });
      expect(await operator.json<object[]>(['organizations', 'list'])).toContainEqual(
        expect.objectContaining({ id, name: 'Quarry Labs' }),
      );
      expect((await operator.run(['organizations', 'rename', '99999', '--name', 'x'])).status).toBe(1);
    });

    it('is deleted with all its data, and without the data of others', async () => {
      const [id, other] = [await create('Gone'), await create('Stays')];
      await operator.json(['keys', 'issue', '--organization', String(id)]);
      for (const each of [id, other]) {
        await operator.json(['seed', '--organization', String(each), '--leads', '1100']);
      }
      const rows = (of: number) =>
        query(
          database.url,
          `select t.relname as name, (xpath('/row/n/text()', query_to_xml(format(
              'select count(*) as n from %I where organization_id = %s', t.relname, ${of}), false, true, '')))[1]::text as n
            from pg_class t join pg_attribute a on a.attrelid = t.oid
            where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace and a.attname = 'organization_id' order by 1`,
        );
      const before = await rows(other);
      expect(await operator.run(['organizations', 'delete', String(id), '--confirm', 'Stays'])).toMatchObject({
        status: 1,
      });
      const deleted = await operator.json(['organizations', 'delete', String(id), '--confirm', 'Gone']);
      expect(deleted).toEqual({ id, name: 'Gone' });
      // The audit log outlives the organization.
      expect((await rows(id)).filter(({ n }) => n !== '0').map(({ name }) => name)).toEqual(['audit_log']);
      expect(await rows(other)).toEqual(before);
    });
  });

  describe('keys', () => {
    it('are rejected if they would already have expired', async () => {
      const args = ['keys', 'issue', '--organization', organization, '--expires-at', '2020-01-31'];
      const message = /^error: --expires-at must be in the future\. See ".* keys issue --help"\.\n$/;
      const stderr = expect.stringMatching(message) as string;
      expect(await operator.run(args)).toEqual({ status: 2, stdout: '', stderr });
    });

    it('have the default limits or the given ones', async () => {
      expect(await issue()).toEqual({
        id: UUID,
        key: KEY,
        organizationId: Number(organization),
        label: null,
        scope: 'all',
        maxTokens: 20,
        refillRate: 1,
        expiresAt: null,
      });
      const wanted = ['--label', 'crm', '--max-tokens', '7', '--refill-rate', '0.125'];
      expect(await issue(...wanted, '--expires-at', '2030-01-31T12:00:00+02:00')).toEqual({
        id: UUID,
        key: KEY,
        organizationId: Number(organization),
        label: 'crm',
        scope: 'all',
        maxTokens: 7,
        refillRate: 0.125,
        expiresAt: '2030-01-31T10:00:00.000Z',
      });
    });

    it('are listed, limited, rotated and revoked, and only their hash is stored', async () => {
      organization = String(await create('Lifecycle'));
      const { id, key } = await issue('--label', 'sync', '--expires-at', '2099-12-31');
      const row = {
        id,
        prefix: key.slice(0, 10),
        organizationId: Number(organization),
        label: 'sync',
        scope: 'all',
        simulate: null,
        maxTokens: 20,
        refillRate: 1,
        createdAt: DATE_TIME,
        lastUsedAt: null,
        expiresAt: '2099-12-31T00:00:00.000Z',
        revokedAt: null,
        successorId: null,
      };
      const list = () => operator.json<Record<string, unknown>[]>(['keys', 'list', '--organization', organization]);
      expect(await list()).toEqual([row]);

      const limited = await operator.json(['keys', 'set-limits', id, '--refill-rate', '2.5']);
      expect(limited).toEqual({ ...row, refillRate: 2.5 });

      const rotated = await operator.json<IssuedKey>(['keys', 'rotate', id, '--overlap', '60m']);
      const settings = {
        organizationId: Number(organization),
        label: 'sync',
        scope: 'all',
        maxTokens: 20,
        refillRate: 2.5,
      };
      expect(rotated).toEqual({ id: UUID, key: KEY, ...settings, expiresAt: '2099-12-31T00:00:00.000Z', webhooks: [] });
      expect(rotated.key).not.toBe(key);
      const [old, young] = await list();
      const left = Date.parse(String(old?.expiresAt)) - Date.now();
      expect(left).toBeGreaterThan(3_500_000);
      expect(left).toBeLessThanOrEqual(3_600_000);
      expect(old?.successorId).toBe(rotated.id);
      expect(young).toMatchObject({ id: rotated.id, successorId: null, expiresAt: '2099-12-31T00:00:00.000Z' });

      const revoked = await operator.json(['keys', 'revoke', rotated.id.toUpperCase()]);
      expect(revoked).toEqual({ id: rotated.id, revokedAt: DATE_TIME });
      expect((await list())[1]).toMatchObject(revoked as object);

      const again = await operator.run(['keys', 'rotate', rotated.id]);
      expect(again).toMatchObject({
        status: 1,
        stderr: `Key ${rotated.id} has expired or was revoked. Issue a new key instead.\n`,
      });
      expect(await list()).toHaveLength(2);

      const stored = await query(database.url, `select k::text as row, hash from api_keys k where id = '${id}'`);
      expect(stored[0]?.hash).toEqual(createHash('sha256').update(key).digest());
      expect(stored[0]?.row).not.toContain(key.slice(10));
    });

    it('warn whoever sets the limits of one that ends or has ended', async () => {
      const { id, key } = await issue('--label', 'sync');
      const setLimits = async (id: string) => {
        const { status, stderr } = await operator.run(['keys', 'set-limits', id, '--max-tokens', '50', '--json']);
        expect(status).toBe(0);
        return stderr;
      };
      expect(await setLimits(id)).toBe('');
      const { id: successorId } = await operator.json<IssuedKey>(['keys', 'rotate', id, '--overlap', '24h']);
      const again = await operator.run(['keys', 'rotate', id, '--overlap', '24h', '--json']);
      expect(again.stderr).toBe(`Key ${id} had been replaced by ${successorId}, which stays valid.\n`);
      const { id: second } = JSON.parse(again.stdout) as IssuedKey;
      const { expiresAt } = JSON.parse((await operator.run(['keys', 'check', '--json'], key)).stdout) as IssuedKey;
      expect(await setLimits(id)).toBe(
        `Key ${id} ends at ${String(expiresAt)}. Its successor ${second} keeps its own limits.\n`,
      );
      expect(await setLimits(successorId)).toBe('');
      await operator.json(['keys', 'revoke', successorId]);
      expect(await setLimits(successorId)).toBe(`Key ${successorId} was revoked, so its limits have no effect.\n`);
      const soon = new Date(Date.now() + 1000).toISOString();
      const { id: short } = await issue('--expires-at', soon);
      await query(database.url, `update api_keys set expires_at = now() where id = '${short}'`);
      expect(await setLimits(short)).toBe(`Key ${short} has expired, so its limits have no effect.\n`);
    });

    it('are shown to a person as text', async () => {
      const issued = await operator.run(['keys', 'issue', '--organization', organization, '--label', 'b\u202eth']);
      expect(issued.stdout).toMatch(/^id +[0-9a-f-]{36}\nkey +lan_\w{49}\norganizationId +\d+\n/);
      expect(issued.stdout).toMatch(/^label +b\\u202eth$/m);
      expect(issued.stdout).toMatch(/\nThe key is shown only this once\.\n$/);
      const [, id = ''] = /^id +(\S+)/.exec(issued.stdout) ?? [];
      const soon = new Date(Date.now() + 60_000).toISOString();
      const { id: ending } = await issue('--expires-at', soon);
      const overlapping = await operator.run(['keys', 'rotate', ending, '--overlap', '60m']);
      expect(overlapping.stdout).toMatch(`once. The old one works until ${soon}.\n`);
      const limits = await operator.run(['keys', 'set-limits', id, '--max-tokens', '3']);
      expect(limits.stdout).toMatch(/^maxTokens +3$/m);
      const revoked = await operator.run(['keys', 'revoke', id]);
      expect(revoked.stdout).toMatch(new RegExp(`^id +${id}\nrevokedAt +20`));
      const { stdout } = await operator.run(['keys', 'list', '--organization', organization]);
      expect(stdout).toContain(id);
      expect(stdout).toMatch(/^id .* prefix .* label .* maxTokens .* refillRate .* expiresAt .* revokedAt/);
      expect(stdout).toMatch(/ {2}b\\u202eth {2}/);
    });
  });

  describe('a key on standard input', () => {
    const check = (key: string) => operator.run(['keys', 'check', '--json'], key);
    beforeAll(async () => void (organization = String(await create('Pier Nine'))));

    it('is active, expired, revoked, unknown or malformed, and is never printed', async () => {
      const { id, key } = await issue('--label', 'booth');
      const known = {
        id,
        prefix: key.slice(0, 10),
        organizationId: Number(organization),
        label: 'booth',
        scope: 'all',
        simulate: null,
        maxTokens: 20,
        refillRate: 1,
        organization: { id: Number(organization), name: 'Pier Nine' },
        createdAt: DATE_TIME,
        lastUsedAt: null,
        expiresAt: null,
        revokedAt: null,
        successorId: null,
      };
      const outcomes = [await check(`${key}\n`)];
      expect(outcomes[0]).toMatchObject({ status: 0, stderr: '' });
      expect(JSON.parse(outcomes[0]?.stdout ?? '')).toEqual({ state: 'active', ...known });

      const { id: successorId } = await operator.json<IssuedKey>(['keys', 'rotate', id]);
      outcomes.push(await check(key));
      expect(JSON.parse(outcomes[1]?.stdout ?? '')).toEqual({
        state: 'expired',
        ...known,
        expiresAt: DATE_TIME,
        successorId,
      });
      await operator.json(['keys', 'revoke', id]);
      outcomes.push(await check(key));
      expect(JSON.parse(outcomes[2]?.stdout ?? '')).toMatchObject({ state: 'revoked', id, revokedAt: DATE_TIME });

      outcomes.push(await check(generateKey()));
      expect(JSON.parse(outcomes[3]?.stdout ?? '')).toEqual({ state: 'unknown', organization: null });
      outcomes.push(await check(key.slice(0, -1)));
      expect(JSON.parse(outcomes[4]?.stdout ?? '')).toEqual({ state: 'malformed', organization: null });

      expect(outcomes.map(({ status }) => status)).toEqual([0, 1, 1, 1, 1]);
      expect(outcomes.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain(key.slice(10, -1));
    });

    it('is described to a person, with the reason on standard error if it is rejected', async () => {
      const { id, key } = await issue('--expires-at', '2099-12-31');
      const active = await operator.run(['keys', 'check'], key);
      expect(active).toMatchObject({ status: 0, stderr: '' });
      expect(active.stdout).toMatch(new RegExp(`^state +active\nid +${id}\n`));
      expect(active.stdout).toMatch(/^organization +id \d+, name Pier Nine$/m);
      expect(active.stdout).toMatch(/^expiresAt +2099-12-31T00:00:00\.000Z$/m);
      await operator.json(['keys', 'revoke', id]);
      const revoked = await operator.run(['keys', 'check'], key);
      expect(revoked).toMatchObject({ status: 1, stderr: 'This key was revoked.\n' });
      expect(revoked.stdout).toMatch(/^state +revoked\n/);
      expect(await operator.run(['keys', 'check'], '')).toEqual({
        status: 1,
        stdout: 'state  malformed\n',
        stderr: expect.stringMatching(/^This is not a key: .*\n$/) as string,
      });
    });

    it('is no argument, where others could read it', async () => {
      const { status, stdout, stderr } = await operator.run(['keys', 'check', generateKey()]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).not.toContain('lan_');
    });
  });

  describe('without --organization', () => {
    it('a command uses the only organization, and otherwise lists them', async () => {
      const fresh = await createTestDatabase();
      const one = new Operator({ DATABASE_URL: fresh.url });
      expect(await one.run(['keys', 'list'])).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(/^There are no organizations yet\. To create one: .*\n$/) as string,
      });
      await one.json(['organizations', 'create', '--name', 'Pier']);
      const lead = JSON.stringify({ leads: [{ id: randomUUID() }] });
      expect(await one.json(['import', '-'], lead)).toMatchObject({ imported: { leads: 1 } });
      expect(await one.json(['seed', '--leads', '10'])).toMatchObject({ imported: { leads: 10 } });
      expect(await one.json(['keys', 'issue'])).toMatchObject({ organizationId: 1 });
      expect(await one.json(['keys', 'list'])).toHaveLength(1);
      expect((await one.json<{ leads: unknown[] }>(['export'])).leads).toHaveLength(11);
      expect(await one.json<unknown[]>(['changes'])).toContainEqual(expect.objectContaining({ resource: 'leads' }));
      const webhook = ['webhooks', 'create', '--url', 'http://127.0.0.1:1/'];
      expect(await one.json(webhook)).toMatchObject({ organizationId: 1 });

      await one.json(['organizations', 'create', '--name', 'Quay\u202e']);
      const choice = 'error: Choose an organization with --organization ID: 1 (Pier), 2 (Quay\\u202e). See "';
      for (const args of [['import', '-'], ['seed'], ['keys', 'issue'], ['keys', 'list'], ['export'], webhook]) {
        const { status, stdout, stderr } = await one.run([...args, '--json']);
        expect([status, stdout]).toEqual([2, '']);
        expect(stderr.slice(0, choice.length)).toBe(choice);
      }
      for (let n = 3; n <= 12; n++) await one.json(['organizations', 'create', '--name', `Dock ${n}`]);
      expect((await one.run(['keys', 'list'])).stderr).toMatch(/, 10 \(Dock 10\) and 2 more\. See .*\n$/);
      await fresh.drop();
    });
  });

  it.each([
    [['keys', 'list']],
    [['keys', 'check']],
    [['organizations', 'create', '--name', 'Pier']],
    [['import', '-']],
    [['export']],
    [['changes']],
    [['check']],
    [['status']],
    [['webhooks', 'list']],
    [['backup', join(tmpdir(), 'lanyard-never-written')]],
  ])('%j creates no embedded database, and says what to do', async (args) => {
    const fixtures = new EmbeddedFixtures();
    const LANYARD_DATA_DIR = fixtures.dataDir();
    const { status, stdout, stderr } = await new Operator({ LANYARD_DATA_DIR, REDIS_URL: undefined }).run(args);
    expect(status).toBe(1);
    expect(stdout + stderr).toContain(
      `There is no database in ${LANYARD_DATA_DIR}. Set LANYARD_DATA_DIR or DATABASE_URL to the database of your server, or ` +
        'run "migrate" to create one.',
    );
    expect(existsSync(LANYARD_DATA_DIR)).toBe(false);
    await fixtures.clean();
  });

  it('fails if the key cannot be printed, because it is shown only once', async () => {
    const child = operator.start(['keys', 'issue', '--organization', organization]);
    child.stdout?.destroy();
    const { status, stderr } = await waitForOutcome(Object.assign(child, { stdout: null }));
    const done = 'The command did its work, but the result was not shown.';
    expect({ status, stderr }).toEqual({ status: 141, stderr: `Standard output was closed. ${done}\n` });
  });

  describe('rejects with status 1 and one line', () => {
    const unknown = '0197f0a2-6c1e-7d55-9d0e-3b0f5a6c7d8e';

    it.each([
      [`Key ${unknown} does not exist. Run "keys list" for the IDs.`, ['keys', 'revoke', unknown]],
      [`Key ${unknown} does not exist. Run "keys list" for the IDs.`, ['keys', 'rotate', unknown]],
      [
        `Key ${unknown} does not exist. Run "keys list" for the IDs.`,
        ['keys', 'set-limits', unknown, '--max-tokens', '5'],
      ],
      [
        'Organization 700 does not exist. Run "organizations list" for the IDs.',
        ['keys', 'issue', '--organization', '700'],
      ],
      [
        'Organization 99999999999 does not exist. Run "organizations list" for the IDs.',
        ['export', '--organization', '99999999999'],
      ],
    ])('%s', async (reason, args) => {
      expect(await operator.run([...args, '--json'])).toEqual({ status: 1, stdout: '', stderr: `${reason}\n` });
    });

    it('an unreachable database, without its password', async () => {
      const nowhere = new Operator({ DATABASE_URL: 'postgres://lanyard:secret@127.0.0.1:1/none' });
      const { status, stdout, stderr } = await nowhere.run(['organizations', 'list', '--json']);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^Cannot connect to the database at 127\.0\.0\.1:1\/none \(DATABASE_URL\): .*\n$/);
      expect(stderr).not.toContain('secret');
    });
  });

  it('works on the embedded PostgreSQL, and mentions it on standard error', async () => {
    const fixtures = new EmbeddedFixtures();
    const embedded = new Operator({ LANYARD_DATA_DIR: fixtures.dataDir() });
    const migrated = await embedded.spawn(['migrate', '--json']);
    expect(migrated).toMatchObject({ status: 0, stderr: expect.stringContaining('PostgreSQL') as string });
    const { status, stdout } = await embedded.spawn(['organizations', 'create', '--name', 'Pier', '--json']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '{"id":1,"name":"Pier"}\n' });
    await fixtures.clean();
  });
});
