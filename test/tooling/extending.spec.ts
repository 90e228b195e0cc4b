import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/extending.md'), 'utf8');
/** What the page changes, and what its commands read. */
const COPIED = ['src', 'test', 'scripts', 'package.json', 'tsconfig.json', 'jest.config.js', '.swcrc', 'openapi.json'];
const ALSO = ['ormconfig.ts', '.dependency-cruiser.js', 'eslint.config.mjs', 'README.md', 'docs', 'clients'];

/** The page's steps: each is a heading that may name a file, and blocks of code. */
const steps = PAGE.split(/^## (?=\d+\. )/m).slice(1);

describe('docs/extending.md', () => {
  const copy = mkdtempSync(join(tmpdir(), 'lanyard-extending-'));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  /** @returns what a command says that must succeed */
  function run(program: string, args: string[], settings: NodeJS.ProcessEnv = {}): string {
    const env = { ...process.env, DATABASE_URL: process.env.LANYARD_TEST_SERVER, ...settings };
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, encoding: 'utf8', env });
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout + stderr;
  }
  /** A program of node_modules, without npm, which may be another one's. */
  const node = (program: string, args: string[], settings?: NodeJS.ProcessEnv): string =>
    run(process.execPath, [join(ROOT, 'node_modules', program), ...args], settings);
  const jest = 'jest/bin/jest.js';

  it('takes ten steps at most', () => expect(steps.length).toBeLessThanOrEqual(10));

  it('is right as it stands: followed to the letter, it gives a resource that its suite and the others take', () => {
    for (const path of [...COPIED, ...ALSO]) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
    for (const step of steps) {
      const [, path = ''] = /^.*?`(\S+\.ts)`$/m.exec(step.split('\n')[0] ?? '') ?? [];
      for (const [, language, code = ''] of step.matchAll(/^```(ts|diff|sh)\n([^]*?)^```$/gm)) {
        if (language === 'sh') {
          run('sh', ['-ec', code]);
          continue;
        }
        const file = join(copy, language === 'diff' ? 'page.diff' : path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, code);
        if (language === 'diff') run('git', ['apply', 'page.diff']);
      }
    }
    // Of the suites that go through everything, what concerns the new resource: openapi.spec first, which writes what
    // routes.spec reads.
    const suites = ['openapi.spec', 'migrations.spec', 'routes.spec', 'cli/datasets'];
    const titles = 'is checked in|schema drift|routes|all sections';
    node(jest, ['--runInBand', ...suites, '-t', titles], { OPENAPI_WRITE: '1' });
    run(process.execPath, ['clients/postman/generate.mjs']);
    const tenancy = ['booths', 'tenancy', 'oracle', '-t', 'booth|the oracle', '--verbose'];
    const said = node(jest, tenancy, { LANYARD_TEST_ORACLE: 'rls' });
    expect(said).toContain('are listed and fetched by their organization alone');
    expect(said).toContain('GET /booths/:boothId with {"boothId":"%"}');
    writeFileSync(join(copy, 'tsconfig.page.json'), '{"extends":"./tsconfig.json","include":["src","test/api"]}');
    node('typescript/bin/tsc', ['--noEmit', '--project', 'tsconfig.page.json']);
    node('dependency-cruiser/bin/dependency-cruise.mjs', ['--config', '.dependency-cruiser.js', 'src']);
  }, 240_000);
});
