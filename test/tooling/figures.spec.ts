import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FIGURES = join(ROOT, 'docs/figures');
const PAGES = ['docs/performance.md', 'docs/deployment.md', 'docs/reliability.md'];
const PICTURES = readdirSync(FIGURES).filter((name) => name.endsWith('.svg'));

interface Figure {
  date: string;
  commit: string;
  code: string[];
}
const numbersOf = <T>(name: string): T => JSON.parse(readFileSync(join(FIGURES, `${name}.json`), 'utf8')) as T;

/** What scripts/ages.mjs says, which jest cannot import. */
function agesOf(figures: Pick<Figure, 'commit' | 'code'>[], root: string, commit = 'HEAD'): unknown {
  const script = `import { agesOf } from ${JSON.stringify(join(ROOT, 'scripts/ages.mjs'))};
    console.log(JSON.stringify(agesOf(...${JSON.stringify([figures, root, commit])}) ?? null));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return JSON.parse(stdout);
}

const check = (root: string) =>
  spawnSync(process.execPath, [join(root, 'scripts/figures.mjs'), '--check'], { encoding: 'utf8' });

describe('the figures of docs/', () => {
  it('agree with the measured numbers, as pictures and as tables (npm run figures writes them)', () => {
    const { status, stderr } = check(ROOT);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('are out of date when a number has changed', () => {
    const copy = mkdtempSync(join(tmpdir(), 'lanyard-figures-'));
    for (const path of ['docs/figures', ...PAGES, 'scripts']) {
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    }
    const numbers = join(copy, 'docs/figures/performance.json');
    writeFileSync(numbers, readFileSync(numbers, 'utf8').replace(/"nest": [\d.]+/, '"nest": 9.99'));
    const { status, stderr } = check(copy);
    rmSync(copy, { recursive: true });
    expect(status).toBe(1);
    expect(stderr.split('\n').filter(Boolean).sort()).toEqual(
      ['docs/figures/comparison-dark.svg', 'docs/figures/comparison-light.svg', 'docs/performance.md'].map(
        (path) => `${path} is out of date. Run: npm run figures`,
      ),
    );
  });

  it.each(PICTURES)('%s has a title and a description for screen readers, and is shown with a text', (name) => {
    const picture = readFileSync(join(FIGURES, name), 'utf8');
    const [, title = ''] = /<title id="[^"]+">([^<]+)<\/title>/.exec(picture) ?? [];
    const [, description = ''] = /<desc id="[^"]+">([^<]+)<\/desc>/.exec(picture) ?? [];
    expect(title).not.toBe('');
    expect(description).toMatch(/\d/);
    const pages = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8'));
    const [, shown = ''] = new RegExp(`="figures/${name}"(.*)/>`).exec(pages.join('\n')) ?? [];
    if (name.includes('-light')) expect(shown).toContain(`alt="${title}. ${description}`);
    else expect(pages.join('\n')).toContain(`(prefers-color-scheme: dark)" srcset="figures/${name}"`);
  });
});

describe('a figure', () => {
  const figures = [
    ...numbersOf<Figure[]>('reliability'),
    ...Object.values(numbersOf<Record<string, Figure>>('performance')),
  ];

  it.each(figures.filter(({ commit }) => commit))(
    'of $date at $commit names code that is there',
    ({ date, commit, code }) => {
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(commit).toMatch(/^[0-9a-f]{7,}$/);
      expect(code.length).toBeGreaterThan(0);
      expect(code.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );

  it('is older than its code when a later commit has changed it, or its own is not in the history', () => {
    const root = mkdtempSync(join(tmpdir(), 'lanyard-ages-'));
    const [repository, shallow] = [join(root, 'repository'), join(root, 'shallow')];
    const author = ['-c', 'user.name=Suite', '-c', 'user.email=suite@example.com', '-c', 'commit.gpgsign=false'];
    const git = (...args: string[]): string =>
      spawnSync('git', ['-C', repository, ...author, ...args], { encoding: 'utf8' }).stdout.trim();
    const commit = (path: string): string => {
      mkdirSync(join(repository, path), { recursive: true });
      writeFileSync(join(repository, path, 'file'), path);
      git('add', '.');
      git('commit', '--quiet', '-m', path);
      return git('rev-parse', 'HEAD');
    };
    mkdirSync(repository);
    git('init', '--quiet');
    const [first, second] = [commit('src/http'), commit('src/data')];
    const measured = [
      { commit: first, code: ['src/http'] },
      { commit: first, code: ['src/http', 'src/data'] },
      { commit: second, code: ['src/data'] },
      { commit: 'abcdef1', code: ['src/http'] },
    ];
    const lost = 'abcdef1 src/http';
    const older = [`${first} src/http src/data`, lost].sort();
    expect(agesOf(measured, repository)).toEqual({ comparedWith: second, older });
    // A later commit changes nothing about what a page says that was compared with an earlier one.
    expect(agesOf(measured, repository, first)).toEqual({ comparedWith: first, older: [lost] });
    spawnSync('git', ['clone', '--quiet', '--depth', '1', `file://${repository}`, shallow]);
    expect([agesOf(measured, shallow), agesOf(measured, root)]).toEqual([null, null]);
    rmSync(root, { recursive: true });
  });
});
