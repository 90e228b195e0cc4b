import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../package.json';

const run = promisify(execFile);
const ROOT = join(__dirname, '../..');

/** test/packages/extension.spec.ts installs the package and uses it, but packs the build that is there. */
describe('the package as `npm pack` makes it of a clean checkout', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-package-'));
  const checkout = join(folder, 'checkout');
  let files: string[];
  let installed: string;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(async () => {
    const { stdout } = await run('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 1 << 26 });
    for (const file of stdout.split('\0').filter(Boolean)) {
      mkdirSync(dirname(join(checkout, file)), { recursive: true });
      cpSync(join(ROOT, file), join(checkout, file));
    }
    symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'), 'junction');
    const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: checkout,
      maxBuffer: 1 << 26,
    });
    // The script `prepack` builds first, and says so on standard error.
    const [{ filename, files: list }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
    files = list.map(({ path }) => path).sort();
    await run('tar', ['-xzf', join(folder, filename), '-C', folder]);
    installed = join(folder, 'package');
    symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'), 'junction');
  }, 240_000);

  it('has a compiled file for each source, what they read, and nothing of the tests', async () => {
    const { stdout } = await run('git', ['ls-files', 'src'], { cwd: ROOT, maxBuffer: 1 << 26 });
    const compiled = stdout
      .trim()
      .split('\n')
      .map((file) => `dist/${file.replace(/\.ts$/, '.js')}`);
    expect(files).toEqual(expect.arrayContaining(compiled));
    expect(files.filter((file) => !/^(dist\/src\/|dist\/package\.json$|[^/]+$)/.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['README.md', 'package.json', 'extension.tsconfig.json']));
  });

  it('runs', async () => {
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { bin: { lanyard: string } };
    const said = await run(process.execPath, [join(installed, bin.lanyard), '--version'], { cwd: folder });
    expect(said.stdout).toBe(`${version}\n`);
    const { stdout } = await run(process.execPath, [join(installed, bin.lanyard), 'openapi'], {
      cwd: folder,
      maxBuffer: 1 << 26,
    });
    const pathsOf = (text: string): string[] => Object.keys((JSON.parse(text) as { paths: object }).paths);
    expect(pathsOf(stdout)).toEqual(pathsOf(readFileSync(join(ROOT, 'openapi.json'), 'utf8')));
  });
});
