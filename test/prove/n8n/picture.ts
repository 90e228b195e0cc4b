import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { refuse } from '../../../scripts/services.mjs';
import type { StoredWorkflow } from './n8n-server';
import type { World } from './world';

const FILE = join(__dirname, '../../../clients/n8n/workflow.png');
const SIZE = { width: 1400, height: 600 };
/** Pixels around the nodes, where their names are. */
const MARGIN = 64;
/** To the right of a node, n8n shows where the next one would go. */
const RIGHT_MARGIN = 100;

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
    const nodes = page.locator('.vue-flow__node');
    await nodes.first().waitFor();
    await page.keyboard.press('1'); // so that all nodes are in sight
    // The icons of nodes are loaded after the nodes.
    for (const node of await nodes.all()) await node.locator('[class*="icon"] :is(img, svg)').first().waitFor();
    await page.waitForLoadState('networkidle');
    const boxes = await Promise.all((await nodes.all()).map((node) => node.boundingBox()));
    const [left, top, right, bottom] = [
      Math.min(...boxes.map((box) => box!.x)) - MARGIN,
      Math.min(...boxes.map((box) => box!.y)) - MARGIN,
      Math.max(...boxes.map((box) => box!.x + box!.width)) + RIGHT_MARGIN,
      Math.max(...boxes.map((box) => box!.y + box!.height)) + MARGIN,
    ];
    const clip = { x: left, y: top, width: right - left, height: bottom - top };
    await page.screenshot({ path: FILE, animations: 'disabled', clip });
  } finally {
    await browser.close();
  }
}
