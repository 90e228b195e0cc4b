import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operationsOf } from '../../clients/postman/operations.mjs';
import { createExhibitor, leadInput } from '../support/builders';
import { Lanyard, startLanyard } from '../support/lanyard';
import { Network } from '../support/servers/network';
import { foreignCursor, listRecords } from '../support/replica';

const ROOT = join(__dirname, '../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const run = promisify(execFile);
const program = require.resolve('typescript/bin/tsc');
/** @throws what the compiler says, which is on its standard output */
const tsc = (cwd: string, ...args: string[]) =>
  run(process.execPath, [program, ...args], { cwd }).catch(({ stdout }: { stdout: string }) => {
    throw new Error(stdout);
  });

/** Whether this Node.js has SQLite without a flag, which is so since 22.13. */
const hasSqlite = (): boolean => isBuiltin('node:sqlite');

interface Manifest {
  files: string[];
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

it('has a collection for Postman with the requests of openapi.json', async () => {
  await run(process.execPath, [join(ROOT, 'clients/postman/generate.mjs'), '--check']);
});

it('leaves a route out of the collection that a module has not described', () => {
  const described = { responses: { 200: { content: { 'application/json': { schema: { type: 'object' } } } } } };
  const paths = { '/rooms': { get: described, post: { responses: { 201: { description: '' } } } } };
  expect(operationsOf({ paths }).map(({ method }: { method: string }) => method)).toEqual(['get']);
});

it('is tested with the one dependency that it has', () => {
  const { dependencies } = manifest(PACKAGE);
  expect(Object.keys(dependencies)).toEqual(['openapi-fetch']);
  expect(manifest(ROOT).devDependencies).toMatchObject(dependencies);
});

describe('the built package', () => {
  const project = mkdtempSync(join(tmpdir(), 'lanyard-client-'));
  const modules = join(project, 'node_modules');
  let lanyard: Lanyard;
  beforeAll(async () => {
    const installed = join(modules, '@lanyard/client');
    mkdirSync(installed, { recursive: true });
    await run('npm', ['run', '--silent', '--prefix', PACKAGE, 'generate']);
    await tsc(PACKAGE, '--project', '.', '--outDir', join(installed, 'dist'));
    const { files } = manifest(PACKAGE);
    for (const file of ['package.json', ...files.filter((each) => each !== 'dist')]) {
      cpSync(join(PACKAGE, file), join(installed, file));
    }
    // Beside the package, where npm puts them.
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types', 'undici-types']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    }
    lanyard = await startLanyard();
  }, 60_000);
  afterAll(async () => {
    rmSync(project, { recursive: true });
  });

  const CALLS = `
    const lanyard = new Lanyard({ baseUrl: process.env.LANYARD_URL, key: process.env.LANYARD_KEY });
    const body = { createdByEmail: 'booth@example.com', firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt' };
    const run = async () => {
      await lanyard.post('/leads', { body });
      for await (const lead of lanyard.list('/leads')) console.log(lead.firstName);
      const refused = await lanyard.post('/leads', { body: { ...body, email: 'x' } }).catch((error) => error);
      console.log(refused instanceof LanyardError, refused.field);
    };
    void run();
  `;

  it.each([
    ['an ES module', 'consumer.mjs', `import { Lanyard, LanyardError } from '@lanyard/client';${CALLS}`],
    ['CommonJS', 'consumer.cjs', `const { Lanyard, LanyardError } = require('@lanyard/client');${CALLS}`],
  ])('is used by %s', async (_, name, source) => {
    const { key } = await lanyard.tenant();
    writeFileSync(join(project, name), source);
    const env = { ...process.env, LANYARD_URL: lanyard.baseUrl, LANYARD_KEY: key };
    const { stdout } = await run(process.execPath, [join(project, name)], { env });
    expect(stdout).toBe('Ada\ntrue email\n');
  });

  const SQLITE = hasSqlite() ? '' : ' (skipped: this Node.js has no node:sqlite)';
  (SQLITE ? it.skip : it)(
    `keeps SQLite equal to the lists, though the program is killed and the cursor expires${SQLITE}`,
    async () => {
      const tenant = await lanyard.tenant();
      const network = await Network.to(lanyard.baseUrl);
      network.maxLimit = 5;
      await tenant.import(createExhibitor().dataset);
      cpSync(join(PACKAGE, 'examples/sqlite-replica.mjs'), join(project, 'sqlite-replica.mjs'));
      const file = join(project, 'copy.sqlite');
      const env = { ...process.env, LANYARD_URL: network.baseUrl, LANYARD_KEY: tenant.key };
      const replicate = async () => {
        const program = spawn(process.execPath, [join(project, 'sqlite-replica.mjs'), file], { env });
        network.program = program;
        const [status, signal] = (await once(program, 'close')) as [number | null, NodeJS.Signals | null];
        return signal ?? status;
      };
      const inDatabase = async (expression: string): Promise<unknown> => {
        const source = `const { DatabaseSync } = require('node:sqlite'); const database = new DatabaseSync(${JSON.stringify(file)});
          console.log(JSON.stringify(${expression} ?? null));`;
        return JSON.parse((await run(process.execPath, ['-e', source])).stdout) as unknown;
      };
      const outcomes: (string | number | null)[] = [];
      for (let round = 0; round < 6; round++) {
        const { body } = await tenant.api.post('/leads', leadInput()).expect(200);
        let requests = 0;
        network.fate = () => (++requests > round % 3 ? 'program killed' : 'answered');
        outcomes.push(await replicate());
        await tenant.api.delete(`/leads/${(body.results as { id: string }).id}`).expect(200);
        if (round !== 3) continue;
        const expired = JSON.stringify({ mark: 1, isSwept: true, cursor: foreignCursor() });
        await inDatabase(`database.prepare('insert or replace into replica values (1, ?)').run('${expired}').changes`);
      }
      expect(outcomes).toContain('SIGKILL');
      network.fate = () => 'answered';
      expect(await replicate()).toBe(0);
      const rows = (await inDatabase(`database.prepare('select resource, key, record from records').all()`)) as {
        resource: string;
        key: string;
        record: string;
      }[];
      const copy = rows.map(({ resource, key, record }) => [
        `${resource} ${key.replace('/', ' ')}`,
        JSON.parse(record) as unknown,
      ]);
      expect(Object.fromEntries(copy)).toEqual(Object.fromEntries(await listRecords(tenant.api)));
      await network.close();
    },
    60_000,
  );

  it('has types for both', async () => {
    const source = `
      import { Lanyard, LanyardError, type LeadV0Response } from '@lanyard/client';
      const lanyard = new Lanyard({ baseUrl: 'http://localhost:3000/api/v0', key: 'lan_key' });
      export const first = async (): Promise<LeadV0Response | undefined> => {
        for await (const lead of lanyard.list('/leads')) return lead;
        return undefined;
      };
      export const fieldOf = (error: unknown): string | undefined =>
        error instanceof LanyardError ? error.field : undefined;
      // @ts-expect-error events are named by numbers
      void lanyard.get('/events/{eventId}', { params: { path: { eventId: 'one' } } });
    `;
    for (const name of ['consumer.mts', 'consumer.cts']) writeFileSync(join(project, name), source);
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    await tsc(project, ...options, '--skipLibCheck', 'consumer.mts', 'consumer.cts');
  }, 60_000);
});
