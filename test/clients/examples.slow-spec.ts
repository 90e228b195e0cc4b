import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { leadInput, unique } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Fate, Network } from '../support/servers/network';
import { foreignCursor } from '../support/replica';

const EXAMPLES = join(__dirname, '../../clients/examples');

interface StoredLead {
  id: string;
  email: string | null;
}

describe('the examples', () => {
  let lanyard: Lanyard;
  let tenant: Tenant;
  let network: Network;
  let folder: string;
  beforeAll(async () => void (lanyard = await startLanyard()));
  beforeEach(async () => {
    tenant = await lanyard.tenant();
    network = await Network.to(lanyard.baseUrl);
    folder = mkdtempSync(join(tmpdir(), 'lanyard-example-'));
  });
  afterEach(async () => {
    await network.close();
    rmSync(folder, { recursive: true });
  });

  function start(name: string, files: string, env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams {
    const paths = files.split(' ').map((file) => join(folder, file));
    const child = spawn(process.execPath, [join(EXAMPLES, `${name}.mjs`), ...paths], {
      env: { ...process.env, LANYARD_KEY: tenant.key, LANYARD_URL: network.baseUrl, ...env },
    });
    network.program = child;
    return child;
  }

  /** Its whole run: what it says, and how it ends. */
  async function end(child: ChildProcessWithoutNullStreams) {
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    const [out, err, [status, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    return { out, err, status, signal };
  }

  const leads = (): Promise<StoredLead[]> => tenant.api.all<StoredLead>('/leads', 'leads');

  it('have at most 100 lines each, and say how they are used', async () => {
    const names = readdirSync(EXAMPLES).filter((name) => name.endsWith('.mjs') && name !== 'call.mjs');
    expect(names.sort()).toEqual(['booth-capture.mjs', 'conferences.mjs', 'crm-sync.mjs']);
    for (const name of [...names, 'call.mjs']) {
      expect(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length).toBeLessThanOrEqual(100);
    }
    for (const name of names) {
      const { status, err } = await end(start(name.replace('.mjs', ''), 'file', { LANYARD_KEY: '' }));
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/^Usage: LANYARD_KEY=lan_… node clients\/examples\//),
      });
    }
  });

  it.each([
    [
      { LANYARD_KEY: 'lan_…' },
      'LANYARD_KEY is not a key. Paste all of it: lan_ and the letters and digits that follow.',
    ],
    ...[
      'localhost:3000/api/v0',
      'http://localhost:3000',
      'http://ada:x@localhost/api/v0',
      '/api/v0',
      'http:///api/v0',
    ].map((url): [NodeJS.ProcessEnv, string] => [
      { LANYARD_URL: url },
      'LANYARD_URL must begin with http:// or https:// and end with /api/v0: http://localhost:3000/api/v0',
    ]),
  ])('say at once what to do about %j', async (env, message) => {
    for (const name of ['booth-capture', 'conferences', 'crm-sync']) {
      const { status, err } = await end(start(name, 'file', env));
      expect({ status, err }).toEqual({ status: 2, err: `${message}\n` });
    }
  });

  it.each([
    'null',
    '5',
    '[]',
    '"text"',
    '{}',
    '{"status":200}',
    '{"status":200,"results":null}',
    '<h1>Log in</h1>',
    '',
  ])('end with a line when a 200 is not the API: %s', async (answer) => {
    network.answer = answer;
    const { status, err } = await end(start('crm-sync', 'leads.csv'));
    expect(err).toBe(
      `GET /changes?resources=leads&limit=500: 200 Not a response of Lanyard: is ${network.baseUrl} its address?\n`,
    );
    expect(status).toBe(1);
  });

  it('do with the samples what their README says', async () => {
    const page = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
    const steps = [...page.matchAll(/^```sh\n(node .*)\n```\n\n> (.*)$/gm)];
    expect(steps).toHaveLength(3);
    symlinkSync(join(EXAMPLES, '..'), join(folder, 'clients'), 'junction');
    const env = { ...process.env, LANYARD_KEY: tenant.key, LANYARD_URL: network.baseUrl };
    for (const [, command = '', said] of steps) {
      const { out, status } = await end(spawn('sh', ['-ec', command], { cwd: folder, env }));
      expect([out.split('\n')[0], status]).toEqual([said, 0]);
    }
  });

  describe('crm-sync', () => {
    const rows = (): string[] => readFileSync(join(folder, 'leads.csv'), 'utf8').split('\r\n').slice(1, -1);
    const ids = (): string[] => rows().map((line) => line.split(',')[0] ?? '');
    const said = (added: number, updated = 0, removed = 0) =>
      `${added} leads added to ${join(folder, 'leads.csv')}, ${updated} updated, ${removed} removed\n`;

    it('copies each lead once, in order; killed, it leaves the copy as it was, and goes on where it was', async () => {
      await tenant.import({ leads: Array.from({ length: 1100 }, (_, n) => ({ id: idOf(n), firstName: `Lead ${n}` })) });
      const all = (await leads()).map(({ id }) => id);
      network.fate = (nth) => (nth === 2 ? 'program killed' : 'answered');
      expect((await end(start('crm-sync', 'leads.csv'))).signal).toBe('SIGKILL');
      expect(readdirSync(folder)).toEqual(['leads.csv.state']);
      network.requests.length = 0;
      network.fate = () => 'answered';
      expect(await end(start('crm-sync', 'leads.csv'))).toMatchObject({ status: 0, out: said(1100) });
      expect(ids()).toEqual(all);
      // It went on behind the first page.
      expect(network.requests).toHaveLength(3);
      expect(network.requests[0]).toMatch(/^GET \/changes\?resources=leads&limit=500&cursor=/);

      const { body } = await tenant.api.post('/leads', leadInput({ companyName: 'Rowe, "Sons"' })).expect(200);
      await tenant.api.delete(`/leads/${all[0]}`).expect(200);
      network.fate = () => 'program killed';
      expect((await end(start('crm-sync', 'leads.csv'))).signal).toBe('SIGKILL');
      expect(ids()).toEqual(all);
      network.fate = () => 'answered';
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(1, 0, 1));
      expect(ids()).toEqual([...all.slice(1), body.results.id]);
      expect(rows().at(-1)).toContain(',"Rowe, ""Sons""",');
      network.requests.length = 0;
      expect(await end(start('crm-sync', 'leads.csv'))).toMatchObject({ status: 0, out: said(0) });
      expect(network.requests).toHaveLength(1);
    });

    it('loses nothing when it was killed between its two files, or while it wrote one', async () => {
      for (const n of [1, 2]) await tenant.api.post('/leads', leadInput({ lastName: `Number ${n}` })).expect(200);
      await end(start('crm-sync', 'leads.csv'));
      const before = readFileSync(join(folder, 'leads.csv'), 'utf8');
      const [first] = await leads();
      await tenant.api.delete(`/leads/${first?.id}`).expect(200);
      await end(start('crm-sync', 'leads.csv'));
      writeFileSync(join(folder, 'leads.csv'), before); // its state is of a later moment
      writeFileSync(join(folder, 'leads.csv.state.new'), '{"header":"id,cr');
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(0, 0, 1));
      expect(ids()).toEqual((await leads()).map(({ id }) => id));
      rmSync(join(folder, 'leads.csv'));
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(1));
      writeFileSync(join(folder, 'leads.csv.state'), '');
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(0));
    });

    it('reads anew when its cursor can no longer be used, and removes what that does not bring', async () => {
      await tenant.api.post('/leads', leadInput()).expect(200);
      await end(start('crm-sync', 'leads.csv'));
      const other = await lanyard.tenant();
      await other.import({ leads: Array.from({ length: 600 }, (_, n) => ({ id: idOf(n) })) });
      const state = join(folder, 'leads.csv.state');
      const kept = JSON.parse(readFileSync(state, 'utf8')) as object;
      writeFileSync(state, JSON.stringify({ ...kept, cursor: foreignCursor() }));
      const env = { LANYARD_KEY: other.key };
      network.requests.length = 0;
      network.fate = (nth) => (nth === 3 ? 'program killed' : 'answered');
      expect((await end(start('crm-sync', 'leads.csv', env))).signal).toBe('SIGKILL');
      expect(ids()).toEqual((await leads()).map(({ id }) => id));
      network.fate = () => 'answered';
      expect((await end(start('crm-sync', 'leads.csv', env))).out).toBe(said(600, 0, 1));
      expect(ids()).toEqual((await other.api.all<StoredLead>('/leads', 'leads')).map(({ id }) => id));
    });

    it('updates the rows of leads that have changed, and removes those of leads that are gone', async () => {
      for (const n of [1, 2, 3]) await tenant.api.post('/leads', leadInput({ lastName: `Number\n${n}` })).expect(200);
      await end(start('crm-sync', 'leads.csv'));
      const [first, second, third] = await leads();
      await tenant.api.delete(`/leads/${first?.id}`).expect(200);
      await tenant.api.patch(`/leads/${second?.id}`, { jobTitle: 'Buyer, "Pumps"' }).expect(200);
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(0, 1, 1));
      const copy = readFileSync(join(folder, 'leads.csv'), 'utf8');
      expect(copy).not.toContain(first?.id);
      expect(copy).toContain(',"Buyer, ""Pumps""",');
      expect(copy.indexOf(String(second?.id))).toBeLessThan(copy.indexOf(String(third?.id)));
    });

    it('follows what is deleted while it reads', async () => {
      await tenant.import({ leads: Array.from({ length: 600 }, (_, n) => ({ id: idOf(n) })) });
      const all = (await leads()).map(({ id }) => id);
      const gone = all.slice(10, 40);
      network.before = async (nth) => {
        if (nth === 2) for (const id of gone) await tenant.api.delete(`/leads/${id}`).expect(200);
      };
      expect((await end(start('crm-sync', 'leads.csv'))).out).toBe(said(570));
      expect(ids()).toEqual(all.filter((id) => !gone.includes(id)));
    });

    it('writes over no other file', async () => {
      writeFileSync(join(folder, 'leads.csv'), 'name,price\r\n');
      const { status, err } = await end(start('crm-sync', 'leads.csv'));
      expect([status, err]).toEqual([1, expect.stringContaining('is no copy of leads')]);
      expect(readFileSync(join(folder, 'leads.csv'), 'utf8')).toBe('name,price\r\n');
    });

    it('writes the contacts of the CRM first, and deletes those that it has deleted', async () => {
      const contact = (n: number, over: object = {}) =>
        leadInput({ remoteId: { id: `c-${n}`, integrationType: 'SALES_FORCE' }, lastName: `Contact ${n}`, ...over });
      const write = (contacts: object[]) =>
        writeFileSync(join(folder, 'contacts.json'), `\ufeff${JSON.stringify(contacts)}`);
      write(Array.from({ length: 230 }, (_, n) => contact(n)));
      network.fate = (nth) => (nth === 2 ? 'reply lost' : 'answered');
      expect((await end(start('crm-sync', 'leads.csv contacts.json'))).out).toBe(said(230));
      const before = await leads();
      expect(ids()).toEqual(before.map(({ id }) => id));

      write([contact(1, { email: 'one@example.com' }), { ...contact(2), deleted: true }, contact(230), contact(3)]);
      let calls = 0;
      network.fate = () => (++calls === 3 ? 'reply lost' : 'answered'); // of the DELETE, which then finds nothing
      const { status, out } = await end(start('crm-sync', 'leads.csv contacts.json'));
      expect({ status, out }).toEqual({ status: 0, out: said(1, 1, 1) });
      const after = await leads();
      expect(after).toHaveLength(230);
      expect(after.find(({ id }) => id === before[1]?.id)?.email).toBe('one@example.com');
      expect(after.some(({ id }) => id === before[2]?.id)).toBe(false);
    });

    it.each([
      ['{"remoteId": {}}', /contacts\.json must be a JSON array of contacts\n$/],
      ['[{', /contacts\.json must be a JSON array of contacts\n$/],
      [JSON.stringify([leadInput()]), /^POST \/leads\/batch: 400 Missing or invalid 'leads\[0\]\.remoteId'\n$/],
    ])('ends with one line when the contacts are %s', async (contacts, message) => {
      writeFileSync(join(folder, 'contacts.json'), contacts);
      const { status, err } = await end(start('crm-sync', 'leads.csv contacts.json'));
      expect([status, err]).toEqual([1, expect.stringMatching(message)]);
    });
  });

  describe('booth-capture', () => {
    const scan = (n: number) => `${JSON.stringify(leadInput({ email: `visitor${n}@example.com` }))}\n`;
    const visitors = (count: number) => Array.from({ length: count }, (_, n) => `visitor${n + 1}@example.com`);

    it('makes one lead of each scan, though the network is away, replies are lost, and it is killed', async () => {
      const child = start('booth-capture', 'queue.ndjson');
      const ended = end(child);
      const fates: Fate[] = ['reply lost', 'lost', 'answered', 'reply lost', 'answered', 'program killed'];
      network.fate = (nth) => fates[nth - 1] ?? 'lost';
      child.stdin.write(scan(1) + scan(2) + scan(3) + scan(4));
      expect((await ended).signal).toBe('SIGKILL');
      expect((await leads()).map(({ email }) => email)).toEqual(visitors(3));

      // The power went while a scan was being written.
      appendFileSync(join(folder, 'queue.ndjson'), '\n{"id":"torn","scan":{"first');
      network.fate = () => 'answered';
      const again = start('booth-capture', 'queue.ndjson');
      again.stdin.end(scan(5));
      expect(await end(again)).toMatchObject({ status: 0, out: '3 sent, 0 refused, 0 left for the next run\n' });
      expect((await leads()).map(({ email }) => email)).toEqual(visitors(5));
    });

    it('goes on after a line that is no scan or is refused, keeps it with the reason, and keeps all when the key is', async () => {
      const locked = start('booth-capture', 'queue.ndjson', { LANYARD_KEY: 'lan_wrong' });
      const huge = JSON.stringify({ ...leadInput(), description: 'x'.repeat(2 ** 21) });
      const strange = ['not a scan', '[{"firstName": "Ada"}]', 'null', '5'];
      locked.stdin.end(`\ufeff${scan(1)}\n${strange.join('\r\n')}\r\n{"firstName": ""}\n${huge}`);
      expect(await end(locked)).toMatchObject({
        status: 1,
        out: expect.stringMatching(/^0 sent, 4 refused, 3 left for the next run\n.*queue\.ndjson\.refused\n$/),
      });
      const child = start('booth-capture', 'queue.ndjson');
      child.stdin.end(`\ufeff${scan(2)}`);
      const { out, err, status } = await end(child);
      expect(out).toMatch(/^2 sent, 2 refused, 0 left for the next run\n/);
      expect(err).toBe("POST /leads: 400 Missing or invalid 'createdByEmail'\nPOST /leads: 413 Payload Too Large\n");
      expect(status).toBe(1);
      const refused = readFileSync(join(folder, 'queue.ndjson.refused'), 'utf8').split('\n').filter(Boolean);
      expect(refused.map((entry) => JSON.parse(entry) as unknown)).toEqual([
        ...strange.map((line) => ({ line, reason: `Not a JSON object: ${line}` })),
        { line: '{"firstName":""}', reason: "POST /leads: 400 Missing or invalid 'createdByEmail'" },
        { line: huge, reason: 'POST /leads: 413 Payload Too Large' },
      ]);
      const idle = start('booth-capture', 'queue.ndjson');
      idle.stdin.end();
      expect(await end(idle)).toMatchObject({ status: 0, out: '0 sent, 0 refused, 0 left for the next run\n' });
      expect((await leads()).map(({ email }) => email)).toEqual(visitors(2));
    });

    it('keeps a scan for which a 200 has no lead', async () => {
      network.answer = '{"status":200,"results":{}}';
      const child = start('booth-capture', 'queue.ndjson');
      child.stdin.end(scan(1));
      const { status, out, err } = await end(child);
      expect([status, out]).toEqual([1, '0 sent, 0 refused, 1 left for the next run\n']);
      expect(err).toContain('without the id of a lead');
    });
  });

  describe('conferences', () => {
    it('says which line is not JSON', async () => {
      writeFileSync(join(folder, 'file'), `\ufeff{"name": "${unique()}"}\nname\n`);
      const { status, err } = await end(start('conferences', 'file'));
      expect([status, err]).toEqual([1, expect.stringMatching(/file, line 2: not JSON/)]);
    });

    it('loads each once, though replies are lost and it is killed in between, and run again none twice', async () => {
      const word = unique();
      const conferences = Array.from({ length: 30 }, (_, n) => ({
        name: `${word} ${n}`,
        ...(n % 2 === 0 && { eventUrl: `https://example.com/${word}/${n}` }),
      }));
      writeFileSync(join(folder, 'file'), conferences.map((each) => `${JSON.stringify(each)}\n`).join(''));
      network.maxLimit = 7;
      network.fate = (nth) => (nth % 7 === 0 ? 'reply lost' : nth === 20 ? 'program killed' : 'answered');
      expect((await end(start('conferences', 'file'))).signal).toBe('SIGKILL');

      network.fate = () => 'answered';
      const { status, out } = await end(start('conferences', 'file'));
      expect(out).toMatch(/of 30 loaded ones each was met once: true\n$/);
      expect(status).toBe(0);
      const { body } = await tenant.api.get('/industryEvents', { q: word }).expect(200);
      expect(body.results.total).toBe(30);
    });
  });
});

/** In the order of their numbers. */
const idOf = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-${unique()}`;
