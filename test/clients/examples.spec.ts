import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { leadInput, unique } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { Fate, Network } from '../support/network';

const EXAMPLES = join(__dirname, '../../examples');

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

  it('have at most 80 lines each, and say how they are used', async () => {
    const names = readdirSync(EXAMPLES).filter((name) => name !== 'call.mjs');
    expect(names.sort()).toEqual(['booth-capture.mjs', 'conferences.mjs', 'crm-sync.mjs']);
    for (const name of [...names, 'call.mjs']) {
      expect(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length).toBeLessThanOrEqual(80);
    }
    for (const name of names) {
      const { status, err } = await end(start(name.replace('.mjs', ''), 'file', { LANYARD_KEY: '' }));
      expect({ status, err }).toEqual({
        status: 2,
        err: expect.stringMatching(/^Usage: LANYARD_KEY=lan_… node examples\//),
      });
    }
  });

  describe('crm-sync', () => {
    const ids = (): string[] =>
      readFileSync(join(folder, 'leads.csv'), 'utf8')
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',')[0] ?? '');

    it('copies each lead once, in order, though it is killed in the middle of a line; later, what is new', async () => {
      await tenant.import({ leads: Array.from({ length: 130 }, (_, n) => ({ id: idOf(n), firstName: `Lead ${n}` })) });
      const all = (await leads()).map(({ id }) => id);
      network.fate = (nth) => (nth === 3 ? 'program killed' : 'answered');
      expect((await end(start('crm-sync', 'leads.csv'))).signal).toBe('SIGKILL');
      expect(ids().length).toBeGreaterThan(50);
      expect(ids().length).toBeLessThan(130);
      appendFileSync(join(folder, 'leads.csv'), 'half a li');

      network.fate = () => 'answered';
      const before = ids().length;
      const { status, out } = await end(start('crm-sync', 'leads.csv'));
      expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(`^${130 - before} leads added`) });
      expect(ids()).toEqual(all);

      const { body } = await tenant.api.post('/leads', leadInput({ companyName: 'Rowe, "Sons"' })).expect(200);
      expect((await end(start('crm-sync', 'leads.csv'))).out).toMatch(/^1 leads added/);
      expect(ids()).toEqual([...all, body.results.id]);
      expect(readFileSync(join(folder, 'leads.csv'), 'utf8')).toContain(',"Rowe, ""Sons""",');
    });

    it('writes the contacts of the CRM first, and deletes those that it has deleted', async () => {
      const contact = (n: number, over: object = {}) =>
        leadInput({ remoteId: { id: `c-${n}`, integrationType: 'SALES_FORCE' }, lastName: `Contact ${n}`, ...over });
      const write = (contacts: object[]) => writeFileSync(join(folder, 'contacts.json'), JSON.stringify(contacts));
      write(Array.from({ length: 230 }, (_, n) => contact(n)));
      network.fate = (nth) => (nth === 2 ? 'reply lost' : 'answered');
      expect((await end(start('crm-sync', 'leads.csv contacts.json'))).out).toMatch(/^230 leads added/);
      const before = await leads();
      expect(ids()).toEqual(before.map(({ id }) => id));

      write([contact(1, { email: 'one@example.com' }), { ...contact(2), deleted: true }, contact(230), contact(3)]);
      const { status, out } = await end(start('crm-sync', 'leads.csv contacts.json'));
      expect({ status, out }).toEqual({ status: 0, out: expect.stringMatching(/^1 leads added/) });
      const after = await leads();
      expect(after).toHaveLength(230);
      expect(after.find(({ id }) => id === before[1]?.id)?.email).toBe('one@example.com');
      expect(after.some(({ id }) => id === before[2]?.id)).toBe(false);
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

    it('goes on after a scan that is refused, and keeps all when the key is', async () => {
      const locked = start('booth-capture', 'queue.ndjson', { LANYARD_KEY: 'lan_wrong' });
      const huge = JSON.stringify({ ...leadInput(), description: 'x'.repeat(2 ** 21) });
      locked.stdin.end(`${scan(1)}not a scan\n{"firstName": ""}\n${huge}\n`);
      expect(await end(locked)).toMatchObject({ status: 1, out: '0 sent, 0 refused, 3 left for the next run\n' });
      const child = start('booth-capture', 'queue.ndjson');
      child.stdin.end(scan(2));
      const { out, err } = await end(child);
      expect(out).toBe('2 sent, 2 refused, 0 left for the next run\n');
      expect(err).toBe("POST /leads: 400 Missing or invalid 'createdByEmail'\nPOST /leads: 413 Payload Too Large\n");
      const idle = start('booth-capture', 'queue.ndjson');
      idle.stdin.end();
      expect((await end(idle)).out).toBe('0 sent, 0 refused, 0 left for the next run\n');
      expect((await leads()).map(({ email }) => email)).toEqual(visitors(2));
    });
  });

  describe('conferences', () => {
    it('loads each once, though replies are lost and it is killed in between, and run again none twice', async () => {
      const word = unique();
      const conferences = Array.from({ length: 30 }, (_, n) => ({
        name: `${word} ${n}`,
        ...(n % 2 === 0 && { eventUrl: `https://example.com/${word}/${n}` }),
      }));
      writeFileSync(join(folder, 'file'), conferences.map((each) => `${JSON.stringify(each)}\n`).join(''));
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
