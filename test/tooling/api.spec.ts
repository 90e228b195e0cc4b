import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** @returns what the program says against it; nothing when it succeeds */
const complaintOf = (script: string, ...args: string[]): Promise<string> =>
  run(process.execPath, [script, ...args], { cwd: ROOT }).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );

const checkApi = (...folder: string[]): Promise<string> => complaintOf('scripts/api.mjs', '--check', ...folder);

describe('the public API of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-api-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is checked in as the code has it (npm run api writes it)', async () => {
    expect(await checkApi()).toBe('');
  }, 120_000);

  describe('as it is checked in', () => {
    const api = join(folder, 'api');
    const project = join(folder, 'extension');
    const compile = (): Promise<string> => complaintOf(require.resolve('typescript/bin/tsc'), '--project', project);

    beforeAll(() => {
      cpSync(join(ROOT, 'docs/api'), api, { recursive: true });
      cpSync(join(ROOT, 'test/extension'), project, { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
      const paths = { lanyard: [join(api, 'lanyard.d.ts')], 'lanyard/testing': [join(api, 'testing.d.ts')] };
      const compilerOptions = { paths, rootDir: 'src', noEmit: true, types: ['node', 'jest'] };
      const base = join(ROOT, 'extension.tsconfig.json');
      const config = { extends: base, compilerOptions, include: ['src'] };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    });

    it('is what the example extension compiles with', async () => {
      expect(await compile()).toBe('');
    }, 120_000);

    it('names what a breaking change breaks, in the example and in the comparison', async () => {
      const file = join(api, 'lanyard.d.ts');
      const broken = readFileSync(file, 'utf8').replace(
        'run(extension?: Extension)',
        'run(name: string, extension: Extension)',
      );
      writeFileSync(file, broken);
      expect(await compile()).toMatch(/^\S*src\/main\.ts\(4,6\): error TS2554: Expected 2 arguments, but got 1\./);
      expect(await checkApi(api)).toBe(
        'The public API is not what lanyard.d.ts has. Run "npm run api", and announce the change in CHANGELOG.md.\n',
      );
    }, 120_000);
  });
});
