import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const FIGURES = join(ROOT, 'docs/figures');
const PICTURES = readdirSync(FIGURES).filter((name) => name.endsWith('.svg'));

const check = (root: string) =>
  spawnSync(process.execPath, [join(root, 'scripts/figures.mjs'), '--check'], { encoding: 'utf8' });

describe('the figures of docs/', () => {
  it('agree with the measured numbers, as pictures and as tables (npm run figures writes them)', () => {
    const { status, stderr } = check(ROOT);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('are out of date when a number has changed', () => {
    const copy = mkdtempSync(join(tmpdir(), 'lanyard-figures-'));
    for (const path of ['docs/figures', 'docs/performance.md', 'docs/reliability.md', 'scripts']) {
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
    const pages = ['performance.md', 'reliability.md'].map((page) => readFileSync(join(ROOT, 'docs', page), 'utf8'));
    const [, shown = ''] = new RegExp(`="figures/${name}"(.*)/>`).exec(pages.join('\n')) ?? [];
    if (name.includes('-light')) expect(shown).toContain(`alt="${title}. ${description}`);
    else expect(pages.join('\n')).toContain(`(prefers-color-scheme: dark)" srcset="figures/${name}"`);
  });
});
