import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_RECORDS } from '../../src/operator/demo/demo';
import { query } from '../../src/testing/test-database';
import { createExhibitor, phone } from '../support/builders';
import type { Tenant } from '../support/lanyard';
import { install, Installation, waitForOutcome } from '../support/operator';
import { DATASETS } from '../support/contexts';
import { waitUntil } from '../support/wait';

const counts = (over: object = {}) => ({
  ...DATASETS.noRecords(),
  ...over,
});
const DEMO = counts(
  Object.fromEntries(Object.entries(DEMO_RECORDS).map(([section, records]) => [section, records.length])),
);

describe('import and export', () => {
  let folder: string;
  let first: Installation;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lanyard-operator-'));
    first = await install();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const users = (organizationId: number): Promise<Record<string, unknown>[]> =>
    query(first.database.url, `select email from users where organization_id = ${organizationId} order by id`);
  /** Which transaction wrote each row of each table that holds any: all of them, but of keys and lists. */
  const versions = async (url: string): Promise<Record<string, unknown>> => {
    const tables = await query(
      url,
      `select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' and table_name !~ 'key|list|audit_log' order by 1`,
    );
    const all: Record<string, unknown> = {};
    for (const { name } of tables) {
      const rows = await query(url, `select xmin::text, ctid::text from ${String(name)} order by ctid`);
      if (rows.length > 0) all[String(name)] = rows;
    }
    return all;
  };
  const ndjson = (...emails: string[]): string =>
    emails.map((email) => `${JSON.stringify({ section: 'users', record: { email } })}\n`).join('');

  describe('import', () => {
    let tenant: Tenant;
    let organizationId: number;
    let args: (source: string) => string[];

    beforeEach(async () => {
      tenant = await first.server.tenant();
      organizationId = tenant.organizationId;
      args = (source) => ['import', source, '--organization', String(organizationId)];
    });

    it('imports one JSON object from a file, and changes nothing the second time', async () => {
      const fresh = await install();
      const { organizationId: id } = await fresh.server.tenant();
      const path = file('demo.json', JSON.stringify(DEMO_RECORDS, null, 2));
      const result = await fresh.operator.json(['import', path, '--organization', String(id)]);
      const events = { 'harbour-expo': 1, 'flow-summit': 2, 'river-dinner': 3 };
      const made = (count: unknown) => ({ created: count, updated: 0, unchanged: 0 });
      const outcomes = Object.fromEntries(Object.entries(DEMO).map(([section, count]) => [section, made(count)]));
      expect(result).toEqual({ importId: expect.any(String) as string, imported: DEMO, outcomes, events });
      const stored = await versions(fresh.database.url);
      expect(Object.keys(stored)).toContain('lead_activity_events');
      const again = await fresh.operator.run(['import', path, '--organization', String(id)]);
      expect(await versions(fresh.database.url)).toEqual(stored);
      expect(again.stdout).toMatch(
        /^Imported 3 users: 0 created, 0 updated, 3 unchanged; 2 tag groups: .*\.\nImport ID: [\da-f-]{36}\n$/,
      );
      expect(again.stdout).toContain('; 12 leads: 0 created, 0 updated, 12 unchanged; 20 lead activity events: 0 c');
    });

    it('reads one JSON object or NDJSON from standard input', async () => {
      const whole = JSON.stringify({ users: [{ email: 'ada@example.com' }] });
      expect(await first.operator.json(args('-'), whole)).toMatchObject({ imported: counts({ users: 1 }), events: {} });
      const lines = `\uFEFF\n${ndjson('ben@example.com')}\r\n${ndjson('éva@example.com')}`;
      expect(await first.operator.json(args('-'), lines)).toMatchObject({ imported: counts({ users: 2 }), events: {} });
      const emails = (await users(organizationId)).map(({ email }) => email);
      expect(emails).toEqual(['ada@example.com', 'ben@example.com', 'éva@example.com']);
    });

    it('stores texts with what ends a value or a row for PostgreSQL', async () => {
      const texts = ['\\N', '\\.', 'a\tb', 'a\nb\r\nc', '\\', '\\t', '"{,}"', "'", '\u0085\u2028', '🦊'];
      const leads = texts.map((text, n) => ({
        id: randomUUID(),
        description: text,
        phoneNumbers: { leadProvided: [phone({ number: `${n}\t\\` })] },
      }));
      await first.operator.json(args('-'), JSON.stringify({ leads }));
      const stored = await tenant.api.all<{ description: string; phoneNumbers: object }>('/leads', 'leads');
      expect(stored.map(({ description }) => description)).toEqual(texts);
      expect(stored[3]?.phoneNumbers).toMatchObject({ leadProvided: [{ number: '3\t\\' }] });

      const { event, activation } = createExhibitor();
      const emails = ['"a\\"b,{}"@example.com', 'null@example.com'];
      await first.operator.json(
        args('-'),
        JSON.stringify({
          events: [{ ...event, tagGroups: [], users: [] }],
          activations: [{ ...activation, users: emails }],
        }),
      );
      const [stand] = await tenant.api.all<{ users: { email: string }[] }>('/activations', 'activations');
      expect(stand?.users).toEqual(emails);
    });

    it.each([
      [
        'a fault in a record',
        '{"users": [{"email": "a@example.com"}, {"email": 1}]}',
        'users[1].email: 1 is not a valid email. Use an address such as name@example.com.',
      ],
      [
        'a fault in a line',
        ndjson('a@example.com', 'nobody'),
        'line 2: users[1].email: "nobody" is not a valid email.',
      ],
      [
        'a date-time of another form, which is not before any start',
        JSON.stringify({
          leads: [
            {
              id: randomUUID(),
              firstName: 'Ada',
              lastName: 'Rowe',
              createdBy: 'a@example.com',
              events: [{ event: 'expo', associatedAt: '2026-05-04T09:12:00+02:00' }],
            },
          ],
        }),
        'associatedAt: "2026-05-04T09:12:00+02:00" is not a valid associatedAt. Use 2026-05-04T09:12:00Z.',
      ],
      ['a line that is no JSON', `${ndjson('a@example.com')}{secret}`, 'line 2: This is not valid JSON.'],
      ['a syntax error', '{"users": [\n  {"email": "a@example.com" "secret"}]}', 'line 2: This is not valid JSON.'],
      ['an array', '[{"email": "a@example.com"}]', 'The dataset must be one JSON object, or NDJSON.'],
      ['a section with a line end in its name', '{"le\\nads": []}', '"le\\nads": Unknown section. Use one of: '],
      [
        'bytes that are no UTF-8',
        Buffer.from(`${ndjson('a@example.com')}\n\xff`, 'latin1'),
        'Line 3 is not valid UTF-8.',
      ],
    ])('rejects %s and stores nothing', async (_, content, reason) => {
      const { status, stdout, stderr } = await first.operator.run(args(file('fault', content)));
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^[^\n]*\n$/);
      expect(stderr).toContain(reason);
      expect(stderr).not.toContain('secret');
      expect(await users(organizationId)).toEqual([]);
    });

    it('recognizes industry events without id and eventUrl by all their fields', async () => {
      const name = `Expo ${randomUUID()}`;
      const events = [
        { name, startDate: '2026-05-04T00:00:00.000Z', keywords: ['a', 'b'], isBookmarked: true },
        { name, startDate: '2026-05-04T00:00:00.000Z', keywords: ['a', 'c'] },
        { name },
      ];
      const stored = () =>
        query(
          first.database.url,
          `select e.id, keywords, b.organization_id as bookmarked from industry_events e
            left join industry_event_bookmarks b on b.industry_event_id = e.id
            where name = '${name}' order by e.position, b.organization_id`,
        );
      // Between them, so many that they come in two batches.
      const others = Array.from({ length: 1000 }, (_, n) => ({ name: `${name} ${n}` }));
      const input = JSON.stringify({ industryEvents: [...events, ...others, ...events] });
      await first.operator.json(args('-'), input);
      const before = await stored();
      expect(before.map(({ keywords }) => keywords as unknown)).toEqual([['a', 'b'], ['a', 'c'], null]);
      expect(before[0]?.bookmarked).toBe(organizationId);

      await first.operator.json(args('-'), input);
      expect(await stored()).toEqual(before);
      const other = await first.server.tenant();
      await first.operator.json(['import', '-', '--organization', String(other.organizationId)], input);
      expect(await stored()).toEqual([
        before[0],
        { ...before[0], bookmarked: other.organizationId },
        ...before.slice(1),
      ]);
      await query(first.database.url, 'delete from industry_events');
    });

    it('rejects a file that it cannot read', async () => {
      const path = join(folder, 'missing.json');
      const stderr = `Cannot read ${path}: no such file or directory\n`;
      expect(await first.operator.run(args(path))).toEqual({ status: 1, stdout: '', stderr });
    });

    it('stores nothing when it is interrupted, and exits by the signal', async () => {
      const child = first.operator.start(args('-'));
      const outcome = waitForOutcome(child);
      child.stdin?.on('error', () => undefined);
      child.stdin?.write(ndjson(...Array.from({ length: 1500 }, (_, i) => `u${i}@example.com`)));
      const staging = `select from pg_stat_activity where datname = current_database() and query like 'copy staged%'`;
      await waitUntil(async () => (await query(first.database.url, staging)).length === 1);
      child.kill('SIGINT');
      expect(await outcome).toEqual({ status: null, stdout: '', stderr: 'Interrupted\n' });
      expect(await users(organizationId)).toEqual([]);
    });
  });

  describe('export', () => {
    it('writes one JSON object with all sections, or NDJSON, also to a file', async () => {
      const tenant = await first.server.tenant();
      const id = randomUUID();
      await tenant.import({ users: [{ email: 'mara@example.com' }], leads: [{ id }] });
      const args = ['export', '--organization', String(tenant.organizationId)];
      const exported = await first.operator.json<Record<string, { id?: string }[]>>(args);
      expect(Object.keys(exported)).toEqual(Object.keys(counts()));
      expect(exported.users).toEqual([expect.objectContaining({ email: 'mara@example.com' })]);
      expect(exported.leads?.map((lead) => lead.id)).toEqual([id]);
      expect([exported.tagGroups, exported.leadActivityEvents]).toEqual([[], []]);

      const { stdout } = await first.operator.run([...args, '--ndjson']);
      const lines = stdout.split('\n').filter(Boolean);
      expect(JSON.parse(lines[1] ?? '')).toEqual({ section: 'leads', record: exported.leads?.[0] });

      const output = file('export.json', 'an earlier one');
      const written = await first.operator.json([...args, '--output', output]);
      expect(written).toEqual({ exported: counts({ users: 1, leads: 1 }) });
      expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual(exported);
      expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    });

    it('writes a file that only its owner can read, and follows no planted link', async () => {
      const { organizationId } = await first.server.tenant();
      const args = ['export', '--organization', String(organizationId), '--output'];
      const output = join(folder, 'private.json');
      expect(await first.operator.run([...args, output])).toMatchObject({ status: 0 });
      expect(statSync(output).mode & 0o777).toBe(0o600);
      const planted = join(folder, 'planted.json');
      const victim = file('victim.txt', 'mine');
      symlinkSync(victim, `${planted}.${process.pid}.part`);
      const refused = await first.operator.run([...args, planted]);
      rmSync(`${planted}.${process.pid}.part`);
      expect(refused).toMatchObject({ status: 1, stderr: `Cannot write ${planted}: file already exists\n` });
      expect(readFileSync(victim, 'utf8')).toBe('mine');
    });

    it('leaves an existing file alone when it fails', async () => {
      const output = file('kept.json', 'an earlier one');
      const { status } = await first.operator.run(['export', '--organization', '999', '--output', output]);
      expect(status).toBe(1);
      expect(readFileSync(output, 'utf8')).toBe('an earlier one');
      const missing = join(folder, 'missing', 'export.json');
      const { organizationId } = await first.server.tenant();
      const nowhere = await first.operator.run(['export', '--organization', `${organizationId}`, '--output', missing]);
      const stderr = `Cannot write ${missing}: no such file or directory\n`;
      expect(nowhere).toEqual({ status: 1, stdout: '', stderr });
      expect(existsSync(missing)).toBe(false);
    });
  });
});
