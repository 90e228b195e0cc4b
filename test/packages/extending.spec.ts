import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { query } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { startInProcess, withTenant } from '../support/lanyard';

const ROOT = join(__dirname, '../..');
/** Not of the checkout, or not read by anything that runs in the copy. */
const LEFT_OUT = ['node_modules', 'dist', '.git', '.data', 'coverage'];

/** A file that the page has as a whole, or the changes of several. */
interface Step {
  /** files, from the root */
  files: string[];
  text: string;
}

/** The steps of a chapter: each heading names a file that the block below it is, or is followed by a diff. */
const stepsOf = (chapter: string): Step[] =>
  chapter.split(/^### /m).flatMap((section) =>
    [...section.matchAll(/^```(ts|diff)\n([^]*?)^```$/gm)].map(([, language, text = '']): Step => {
      const files = language === 'ts' ? /^`(\S+)`\n/.exec(section)?.slice(1) : undefined;
      return { text, files: files ?? [...text.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, file = '']) => file) };
    }),
  );
const [, ...chapters] = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8').split(/^## /m);
const WALKS = chapters
  .map((chapter) => ({ title: chapter.split('\n')[0], steps: stepsOf(chapter) }))
  .filter(({ title }) => title === 'A field of a lead' || title === 'A resource');
const FILES = WALKS.flatMap(({ steps }) => steps.flatMap(({ files }) => files));

describe('docs/extending.md', () => {
  const copy = mkdtempSync(join(tmpdir(), 'lanyard-extending-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  /** @returns what a program says that must succeed */
  function run(program: string, args: string[], settings: NodeJS.ProcessEnv = {}): Promise<string> {
    const env = { ...process.env, DATABASE_URL: process.env.LANYARD_TEST_SERVER, ...settings };
    const child = spawn(program, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
    return new Promise((resolve, reject) => {
      child.on('error', reject).on('close', (status) => {
        if (status === 0) resolve(said);
        else reject(new Error(`${program} ${args.join(' ')}\n${said.replaceAll(/^ *[○✓] .*\n/gm, '').slice(-20_000)}`));
      });
    });
  }
  const npm = (script: string, ...args: string[]): Promise<string> =>
    run('npm', ['run', '--silent', script, '--', ...args]);
  const program = (path: string, ...args: string[]): Promise<string> =>
    run(process.execPath, [join('node_modules', path), ...args]);
  const suites = async (args: string[], settings?: NodeJS.ProcessEnv): Promise<string> => {
    const bounds = [
      '--testPathIgnorePatterns',
      '/node_modules/',
      '--maxWorkers',
      '2',
      '--testTimeout',
      '120000',
      '--verbose',
    ];
    const said = await run(process.execPath, ['node_modules/jest/bin/jest.js', ...bounds, ...args], settings);
    return said.replaceAll(/^ *○ .*\n/gm, '');
  };

  it.each([
    ['A field of a lead', 5],
    ['A resource', 12],
  ])('%s is at most %i files by hand, none of them a proof or a benchmark', (title, most) => {
    const files = WALKS.find((walk) => walk.title === title)?.steps.flatMap((step) => step.files) ?? [];
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBe(new Set(files).size);
    expect(files.length).toBeLessThanOrEqual(most);
    expect(files.filter((file) => /^test\/(prove|bench)\//.test(file))).toEqual([]);
  });

  describe('followed to the letter', () => {
    /** A lead of before, in a database of before. */
    const lead = { id: randomUUID(), firstName: 'Ada' };
    let stored: string;

    beforeAll(async () => {
      ({ url: stored } = await createTestDatabase());
      const [lanyard, tenant] = await withTenant(startInProcess({ databaseUrl: stored }));
      await tenant.import({ leads: [lead] });
      await lanyard.stop();

      cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.includes(basename(path)) });
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
      for (const { files, text } of WALKS.flatMap(({ steps }) => steps)) {
        const file = join(copy, files.length === 1 && !text.startsWith('---') ? (files[0] ?? '') : 'page.diff');
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
        if (file.endsWith('page.diff')) await run('git', ['apply', '--unidiff-zero', 'page.diff']);
      }
      rmSync(join(copy, 'page.diff'));
      await npm('openapi');
      await npm('sql');
      await npm('build');
    }, 240_000);

    it('compiles, and keeps to the rules of code', async () => {
      await npm('types');
      await program('eslint/bin/eslint.js', '--max-warnings', '0', ...FILES);
      await program('prettier/bin/prettier.cjs', '--check', ...FILES);
      await npm('architecture');
    }, 240_000);

    it('is described: linters, workflows and the collection take it', async () => {
      expect(await npm('description')).toContain('getWebhook, deleteWebhook, getBooth, patchBooth, deleteBooth');
      expect(await npm('collection')).toContain('Delete a booth');
    }, 240_000);

    it('keeps the suites of what it touches, and has its own', async () => {
      const own = ['api/booths', 'api/lead-fields', 'api/leads'];
      const others = ['http/openapi(-examples)?.spec', 'http/routes', 'database/(migrations|functions|sql)', 'model/'];
      expect(await suites([...own, ...others])).toContain('PASS test/api/booths');
    }, 240_000);

    it('is tried by suites that find resources by themselves', async () => {
      const titles = 'booth|one condition at a time|exhibitor';
      const all = ['api/tenancy', 'api/oracle', 'api/pagination', '-t', titles];
      const said = await suites(all, { LANYARD_TEST_ORACLE: 'rls' });
      expect(said).toContain('GET /booths/:boothId with {"boothId":"%"}');
      expect(said).toContain('POST /events/:eventId/booths with {"eventId":"%"}');
      expect(said).toContain('of /events/:eventId/booths');
    }, 240_000);

    it('shows the new field in leads of before, after a start', async () => {
      await run(process.execPath, ['dist/src/main.js', 'migrate'], { DATABASE_URL: stored });
      const [row] = await query(stored, `select document::json as shown from leads where id = '${lead.id}'`);
      expect(row?.shown).toMatchObject({ id: lead.id, firstName: 'Ada', department: null });
    });
  });
});
