import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** @returns what the program says against it; nothing when it succeeds */
const complaintOf = (script: string, ...args: string[]): Promise<string> =>
  run(process.execPath, [script, ...args], { cwd: ROOT }).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );

const API = join(ROOT, 'docs/api');

describe('the public API of the package', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lanyard-api-')));
  const broken = join(folder, 'broken');
  const project = join(folder, 'extension');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    cpSync(API, broken, { recursive: true });
    cpSync(join(ROOT, 'test/extension'), project, { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const file = join(broken, 'lanyard.d.ts');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('run(extension?: Extension)', 'run(name: string, extension: Extension)'));
  });

  /** Compiles the example extension with the API as the files of a folder have it. */
  const compileWith = (api: string): Promise<string> => {
    const paths = { lanyard: [join(api, 'lanyard.d.ts')], 'lanyard/testing': [join(api, 'testing.d.ts')] };
    const compilerOptions = { paths, rootDir: 'src', noEmit: true, types: ['node', 'jest'] };
    const base = join(ROOT, 'extension.tsconfig.json');
    const config = { extends: base, compilerOptions, include: ['src'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    return complaintOf(require.resolve('typescript/bin/tsc'), '--project', project);
  };

  it('is checked in as the code has it (npm run api writes it), and a change of it is named', async () => {
    expect(await complaintOf('scripts/api.mjs', '--check', API, broken)).toBe(
      `The public API is not what ${relative(ROOT, broken)}/lanyard.d.ts has. Run "npm run api", and announce the change in CHANGELOG.md.\n`,
    );
  }, 120_000);

  it('is what the example extension compiles with', async () => {
    expect(await compileWith(API)).toBe('');
  }, 120_000);

  it('does not compile with the example when a change breaks it', async () => {
    expect(await compileWith(broken)).toMatch(
      /^\S*src\/main\.ts\(4,6\): error TS2554: Expected 2 arguments, but got 1\./,
    );
  }, 120_000);
});
