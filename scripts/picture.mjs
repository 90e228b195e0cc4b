// node scripts/picture.mjs: makes the pictures of README.md from the running product, light and dark. They show what the first
// start prints, in a folder of its own, next to the API reference. docs/images/first-start.txt has the same text, which
// test/start/start.slow-spec.ts compares with the program's. Needs a chromium on the PATH.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { firstStartText } from './first-start-text.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PORT = '3000';
const PICTURE = { width: 1600, height: 780 };
const REFERENCE = { width: 860, height: PICTURE.height - 52 };

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => spawnSync(file, ['--version']).status === 0);

spawnSync(process.execPath, ['scripts/build.mjs', '--if-needed'], { cwd: ROOT, stdio: 'inherit' });
const folder = mkdtempSync(join(tmpdir(), 'lanyard-picture-'));
chmodSync(folder, 0o755); // root's PostgreSQL runs as another user
const env = { ...process.env, PORT, DATABASE_URL: '', REDIS_URL: '', LANYARD_DATA_DIR: join(folder, '.data') };
const server = spawn(process.execPath, [join(ROOT, 'dist/src/main.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  let output = '';
  for await (const line of createInterface(server.stdout)) {
    output += `${line}\n`;
    if (line.includes('curl')) break;
  }
  server.stdout.resume();
  const [, base] = /LANYARD_URL=(\S+)/.exec(output) ?? [];
  const [, key] = /LANYARD_KEY=(\S+)/.exec(output) ?? [];
  const response = await fetch(`${base}/leads?limit=1`, { headers: { 'x-api-key': key } });
  const terminal = firstStartText(output, env.LANYARD_DATA_DIR, await response.json());
  writeFileSync(join(ROOT, 'docs/images/first-start.txt'), terminal);

  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ colorScheme, viewport: REFERENCE });
    const page = await context.newPage();
    await page.goto(`http://localhost:${PORT}/docs`, { waitUntil: 'networkidle' });
    await page.locator('.scheme-container').evaluate((element) => element.scrollIntoView());
    const reference = (await page.screenshot()).toString('base64');
    const picture = await context.newPage(); // without the policy of the page before
    await picture.setViewportSize(PICTURE);
    await picture.setContent(pictureOf(terminal, reference, colorScheme === 'dark'));
    await picture.screenshot({ path: join(ROOT, `docs/images/first-start-${colorScheme}.png`) });
    await context.close();
  }
  await browser.close();
} finally {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

function pictureOf(terminal, reference, isDark) {
  const [back, edge, ink] = isDark ? ['#0d0f14', '#2d3241', '#eceef4'] : ['#eceef2', '#c9cdd8', '#1a1d29'];
  const text = terminal
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/^\$ .*$/gm, '<b>$&</b>');
  return `<style>
    body { margin: 0; height: 100vh; box-sizing: border-box; padding: 26px; display: flex; gap: 26px;
      background: ${back}; color: ${ink}; font: 17px/1.5 'DejaVu Sans Mono', monospace; }
    pre { flex: 1; margin: 0; padding: 24px; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit;
      background: #16181f; color: #d5d9e6; }
    b { color: #f2a900; font-weight: 400; }
    pre, img { border: 1px solid ${edge}; border-radius: 10px; align-self: stretch; }
    img { object-fit: cover; object-position: top; width: ${REFERENCE.width}px; }
  </style><pre>${text}</pre><img src="data:image/png;base64,${reference}" />`;
}
