import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { refuse } from '../../../scripts/services.mjs';
import type { StoredWorkflow } from './n8n-server';
import type { World } from './world';

const FILE = join(__dirname, '../../../clients/n8n/workflow.png');
const SIZE = { width: 1400, height: 480 };

/** Takes the picture of clients/n8n/README.md: a workflow in the editor of n8n, after it has run. */
export async function takePicture({ n8n }: World, { id }: StoredWorkflow): Promise<void> {
  const executablePath = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
    .find((file) => spawnSync(file, ['--version']).status === 0);
  if (!executablePath) return refuse('The picture needs a chromium on the PATH.');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ viewport: SIZE });
    await context.addCookies(n8n.cookies.map(([name, value]) => ({ name, value, url: n8n.url })));
    const page = await context.newPage();
    await page.goto(`${n8n.url}/workflow/${id}`, { waitUntil: 'networkidle' });
    await page.locator('.vue-flow__node').first().waitFor();
    await page.keyboard.press('1');
    await page.locator('.vue-flow').screenshot({ path: FILE, animations: 'disabled' });
  } finally {
    await browser.close();
  }
}
