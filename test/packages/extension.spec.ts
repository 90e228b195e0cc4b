import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../package.json';
import { waitForOutput, waitForExit } from '../support/program';

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'test/extension');
const execute = promisify(execFile);

interface Block {
  language: string;
  text: string;
  /** The file that the block is, where the heading above it names one. */
  file?: string;
}

/** The code blocks of a chapter of docs/extending.md. */
function blocksOf(chapter: string): Block[] {
  return chapter.split(/^### /m).flatMap((section) => {
    const [, file] = /^`(\S+)`\n/.exec(section) ?? [];
    return [...section.matchAll(/^```(ts|json|sh)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({
      language,
      text,
      ...(language !== 'sh' && { file }),
    }));
  });
}

const PAGE = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');
const chapter = (title: string): string => {
  const [, text] = PAGE.split(`\n## ${title}\n`);
  if (text === undefined) throw new Error(`docs/extending.md has no chapter ${title}`);
  return text.split(/^## /m)[0] ?? '';
};
const WALK = chapter('In a repository of its own');
const shellBlocksOf = (text: string): string[] =>
  blocksOf(text).flatMap((block) => (block.language === 'sh' ? [block.text] : []));
const [INSTALL = '', BUILD = ''] = shellBlocksOf(WALK);
const LATER = ['Commands and migrations', 'Import, export and the change feed', 'More data on a lead'].map(chapter);
const TESTS = chapter('Tests');
const [INSTALL_JEST = '', RUN_TESTS = ''] = shellBlocksOf(TESTS);

const QA_PAGE = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
const QA_WALK = QA_PAGE.split('\n## A server for your tests\n')[1]?.split(/^## /m)[0] ?? '';
const [, QA_INSTALL = '', QA_RUN = ''] = shellBlocksOf(QA_WALK);
const [QA_SUITE = ''] = blocksOf(QA_WALK).flatMap(({ language, text }) => (language === 'ts' ? [text] : []));

describe('an extension in a repository of its own', () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'lanyard-extension-')));
  // The account that runs PostgreSQL for root must get to the data.
  chmodSync(project, 0o755);
  const running: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of running) if (child.exitCode === null) await waitForExit(child, 'SIGTERM');
    rmSync(project, { recursive: true, force: true });
  });

  const env: NodeJS.ProcessEnv = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false' };
  for (const name of Object.keys(env))
    if (/^(DATABASE_URL|REDIS_URL|JEST_|LANYARD_|NODE_OPTIONS)/.test(name)) delete env[name];
  Object.assign(env, { PORT: '0', HOST: '127.0.0.1', npm_config_fund: 'false' });

  /** @returns what a program writes to standard output, when it succeeds */
  async function run(program: string, ...args: string[]): Promise<string> {
    try {
      return (await execute(program, args, { cwd: project, env, maxBuffer: 1 << 26 })).stdout;
    } catch (error) {
      const { message, stdout, stderr } = error as { message: string; stdout: string; stderr: string };
      throw new Error([message, stdout, stderr].join('\n'), { cause: error });
    }
  }
  const shell = (commands: string): Promise<string> => run('sh', '-ec', commands);
  const lanyard = (...args: string[]): Promise<string> => run('node', 'dist/main.js', ...args);
  const json = async (...args: string[]): Promise<unknown> => JSON.parse(await lanyard(...args, '--json'));

  function write(chapter: string): void {
    for (const { file, text } of blocksOf(chapter)) {
      if (!file) continue;
      mkdirSync(dirname(join(project, file)), { recursive: true });
      writeFileSync(join(project, file), text);
    }
  }

  /** Starts the server; resolves to its address and the key that a first start prints. */
  async function start(lastLine = '/leads'): Promise<{ server: ChildProcess; origin: string; key: string }> {
    const server = spawn('node', ['dist/main.js'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    running.push(server);
    const said = await waitForOutput(server, lastLine);
    const [, origin = ''] = /^Lanyard is listening on (\S+)\/api\/v0$/m.exec(said) ?? [];
    const [, key = ''] = /export LANYARD_KEY=(\S+)/.exec(said) ?? [];
    return { server, origin, key };
  }

  it('is a walk of at most 120 lines', () => {
    expect(WALK.split('\n').length).toBeLessThanOrEqual(120);
    expect(INSTALL).toContain(`npm install ./lanyard-${version}.tgz`);
    expect(BUILD).toBe('npx tsc\nnode dist/main.js\n');
  });

  it('gives the project of test/extension', () => {
    const files = new Map(
      [WALK, TESTS, ...LATER].flatMap(blocksOf).flatMap(({ file, text }) => (file ? [[file, text]] : [])),
    );
    expect([...files.keys()].sort()).toEqual(
      readdirSync(EXAMPLE, { recursive: true, encoding: 'utf8' })
        .filter((name) => /^(src|test)\/.*\.ts$|tsconfig\.json$/.test(name))
        .sort(),
    );
    for (const [file, text] of files) expect(readFileSync(join(EXAMPLE, file), 'utf8')).toBe(text);
    const manifest = JSON.parse(readFileSync(join(EXAMPLE, 'package.json'), 'utf8')) as Record<string, object>;
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(INSTALL + INSTALL_JEST).toContain(name);
  });

  describe('followed to the letter', () => {
    beforeAll(async () => {
      await execute('node', ['scripts/build.mjs', '--if-needed'], { cwd: ROOT });
      await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', project], { cwd: ROOT });
      await shell(INSTALL);
      write(WALK);
      await shell('npx tsc');
    }, 240_000);

    it('has each package of Nest and TypeORM once', async () => {
      const tree = await run(
        'npm',
        'ls',
        '--all',
        '--parseable',
        '@nestjs/core',
        '@nestjs/common',
        'typeorm',
        'class-validator',
      );
      const names = tree
        .trim()
        .split('\n')
        .map((path) => path.replace(/^.*node_modules\//, ''));
      expect(names.sort()).toEqual(['@nestjs/common', '@nestjs/core', 'class-validator', 'typeorm']);
    }, 60_000);

    it('knows the globals of Node.js', async () => {
      const file = join(project, 'src/badge.ts');
      writeFileSync(file, `export const badge: Buffer = Buffer.from('%PDF');\n`);
      await shell('npx tsc --noEmit');
      rmSync(file);
    }, 60_000);

    it('serves the module, on the embedded PostgreSQL', async () => {
      const { server, origin, key } = await start();
      const request = async (
        method: string,
        path: string,
        body?: object,
      ): Promise<{ status: number; body: unknown }> => {
        const headers = { 'x-api-key': key, 'Content-Type': 'application/json' };
        const response = await fetch(origin + path, { method, headers, body: body && JSON.stringify(body) });
        return { status: response.status, body: await response.json() };
      };
      expect((await fetch(`${origin}/api/v0/halls`)).status).toBe(401);
      expect(await request('POST', '/api/v0/halls', { name: '' })).toMatchObject({ status: 400 });
      expect(await request('POST', '/api/v0/halls', { name: 'North' })).toMatchObject({
        status: 200,
        body: { status: 200, results: { name: 'North' } },
      });
      expect(await request('GET', '/api/v0/halls')).toMatchObject({ body: { results: [{ name: 'North' }] } });
      const { body } = await request('GET', '/openapi.json');
      expect(body).toMatchObject({ paths: { '/halls': { get: {}, post: {} } } });
      expect(JSON.parse(await lanyard('openapi'))).toEqual(body);
      expect(await waitForExit(server, 'SIGTERM')).toBe(0);
    }, 120_000);

    it('has a data source for TypeORM, which finds no difference, and a new column', async () => {
      write(LATER[0] ?? '');
      await shell('npx tsc');
      const generate = ['typeorm', '-d', 'dist/data-source.js', 'migration:generate', 'src/migrations/seats'];
      expect(await run('npx', ...generate, '--dryrun').catch(String)).toContain(
        'No changes in database schema were found',
      );
      const file = join(project, 'src/halls.module.ts');
      const before = readFileSync(file, 'utf8');
      const column = `  @Column('integer', { nullable: true }) seats: number | null;\n`;
      writeFileSync(file, before.replace(/^( {2}@Column.*\n)/m, `$1${column}`));
      await shell('npx tsc');
      await run('npx', ...generate);
      const generated = readdirSync(join(project, 'src/migrations')).find((name) => name.endsWith('-seats.ts')) ?? '';
      expect(readFileSync(join(project, 'src/migrations', generated), 'utf8')).toContain(
        'ALTER TABLE "halls" ADD "seats" integer',
      );
      // A new database runs the migrations in the order of their numbers.
      expect(readdirSync(join(project, 'src/migrations')).sort().at(-1)).toBe(generated);
      rmSync(join(project, 'src/migrations', generated));
      writeFileSync(file, before);
    }, 120_000);

    it('imports and exports its records, and has their changes', async () => {
      for (const chapter of LATER.slice(1)) write(chapter);
      await shell('npx tsc');
      // The commands use the PostgreSQL that the server has started.
      const { server } = await start('API reference');
      const halls = [{ id: '0197f5a0-0000-7000-8000-000000000002', name: 'South' }];
      const lead = { id: '0197f5a0-0000-7000-8000-000000000012', ref: 'A-17', lastName: 'Lovelace' };
      const meeting = {
        id: '0197f5a0-0000-7000-8000-000000000011',
        lead: lead.id,
        startsAt: '2026-05-04T09:00:00.000Z',
      };
      const importFile = (records: object): Promise<unknown> => {
        writeFileSync(join(project, 'records.json'), JSON.stringify(records));
        return json('import', 'records.json', '--organization', '1');
      };
      const meetings = [{ ...meeting, price: 149.95 }];
      expect(await importFile({ halls, leads: [lead], meetings })).toMatchObject({
        imported: { halls: 1, meetings: 1 },
      });
      expect(await json('export', '--organization', '1')).toMatchObject({
        halls: [{ name: 'North' }, halls[0]],
        meetings,
      });
      writeFileSync(join(project, 'meetings.csv'), 'lead,startsAt,price\nA-17,2026-05-04T11:00:00Z,80.50\n');
      expect(await json('import', 'meetings.csv', '--csv', 'meetings', '--organization', '1')).toMatchObject({
        imported: { meetings: 1 },
      });
      const clash = { ...meeting, id: '0197f5a0-0000-7000-8000-000000000013' };
      expect(await importFile({ meetings: [clash] }).catch(String)).toContain('meetings[0].startsAt');
      const { lead: leadId, ...shown } = meetings[0]!;
      expect(await json('changes', '--organization', '1')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ resource: 'halls', record: halls[0] }),
          expect.objectContaining({ resource: 'meetings', record: { ...shown, leadId } }),
        ]),
      );
      expect(await json('check')).toMatchObject({ lists: { wrong: 0 } });
      expect(await json('status')).toMatchObject({ migrations: { pending: [] } });
      expect(await waitForExit(server, 'SIGTERM')).toBe(0);
    }, 120_000);

    it('has suites, which start a server with the modules, and find Nest and TypeORM as they promise', async () => {
      await shell(INSTALL_JEST);
      write(TESTS);
      cpSync(join(EXAMPLE, 'promises'), join(project, 'test'), { recursive: true });
      expect(RUN_TESTS).toBe('npx jest\n');
      await shell(RUN_TESTS);
      await shell('npx tsc --project test');
    }, 240_000);

    it('names a second instance of TypeORM, before anything fails for a reason that it does not know', async () => {
      const second = join(project, 'node_modules/lanyard/node_modules/typeorm');
      cpSync(join(project, 'node_modules/typeorm'), second, { recursive: true });
      const refused = await lanyard('status').catch(String);
      expect(refused).toMatch(
        /^This project has a second instance of .*: typeorm \S+ beside Lanyard's \S+\. "npm ls typeorm" shows/m,
      );
      rmSync(second, { recursive: true });
    }, 60_000);

    it('is removed: its migrations are reverted, and Lanyard runs without it', async () => {
      expect(await json('migrate', '--revert-extension')).toEqual({
        reverted: ['Meetings1790000000001', 'Halls1790000000000'],
      });
      const plain = JSON.parse(await run('npx', 'lanyard', 'check', '--json')) as unknown;
      expect(plain).toMatchObject({ lists: { wrong: 0 }, triggers: { wrong: 0 } });
    }, 60_000);
  });
});

describe('the suite of a client in an empty project', () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'lanyard-client-suite-')));
  // The account that runs PostgreSQL for root must get to its programs.
  chmodSync(project, 0o755);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('has at most ten lines, and is green', async () => {
    expect(QA_SUITE.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    await execute('node', ['scripts/build.mjs', '--if-needed'], { cwd: ROOT });
    await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', project], { cwd: ROOT });
    writeFileSync(join(project, 'leads.test.ts'), QA_SUITE);
    const env = { ...process.env, npm_config_prefer_offline: 'true', JEST_WORKER_ID: undefined };
    await execute('sh', ['-ec', QA_INSTALL + QA_RUN], { cwd: project, env });
  }, 240_000);
});
