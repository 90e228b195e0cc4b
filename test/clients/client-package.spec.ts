import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operationsOf } from '../../clients/postman/operations.mjs';
import { Lanyard, startLanyard } from '../support/lanyard';

const ROOT = join(__dirname, '../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const run = promisify(execFile);
const program = require.resolve('typescript/bin/tsc');
/** @throws what the compiler says, which is on its standard output */
const tsc = (cwd: string, ...args: string[]) =>
  run(process.execPath, [program, ...args], { cwd }).catch(({ stdout }: { stdout: string }) => {
    throw new Error(stdout);
  });

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
