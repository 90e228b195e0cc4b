import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

describe('the public API of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-api-'));
  const [checkedIn, changed] = [join(ROOT, 'docs/api'), join(folder, 'api')];
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(() => {
    cpSync(checkedIn, changed, { recursive: true });
    const file = join(changed, 'lanyard.d.ts');
    const breaking = ['run(extension?: Extension)', 'run(name: string, extension: Extension)'] as const;
    writeFileSync(file, readFileSync(file, 'utf8').replace(...breaking));
  });

  it('is checked in as the code has it (npm run api writes it), and a breaking change of it is named', async () => {
    const path = relative(ROOT, join(changed, 'lanyard.d.ts'));
    expect(await complaintOf('scripts/api.mjs', '--check', checkedIn, changed)).toBe(
      `The public API is not what ${path} has. Run "npm run api", and announce the change in CHANGELOG.md.\n`,
    );
  }, 120_000);

  describe('for the example extension', () => {
    const project = join(folder, 'extension');
    const compileWith = (api: string): Promise<string> => {
      const paths = { lanyard: [join(api, 'lanyard.d.ts')], 'lanyard/testing': [join(api, 'testing.d.ts')] };
      const compilerOptions = { paths, rootDir: 'src', noEmit: true, types: ['node', 'jest'] };
      const base = join(ROOT, 'extension.tsconfig.json');
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ extends: base, compilerOptions, include: ['src'] }),
      );
      return complaintOf(require.resolve('typescript/bin/tsc'), '--project', project);
    };

    beforeAll(() => {
      cpSync(join(ROOT, 'test/extension'), project, { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    });

    it('is what it compiles with', async () => {
      expect(await compileWith(checkedIn)).toBe('');
    }, 120_000);

    it('does not compile it when a change breaks it', async () => {
      expect(await compileWith(changed)).toMatch(
        /^\S*src\/main\.ts\(4,6\): error TS2554: Expected 2 arguments, but got 1\./,
      );
    }, 120_000);
  });
});
