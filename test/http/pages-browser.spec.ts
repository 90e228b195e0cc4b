import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { leadInput } from '../support/builders';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';
import { unless } from '../support/skipping';

/** The system's browser, for playwright-core brings none of its own; Debian's name first. */
const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => existsSync(file));
const NO_CHROMIUM = executablePath ? '' : ' (skipped: no chromium on the PATH)';

/** What the functions below use where they run: in the page. */
declare const document: {
  body: object;
  documentElement: { className: string; clientWidth: number; scrollWidth: number };
  addEventListener(type: 'securitypolicyviolation', listener: (violation: Violation) => void): void;
};
declare const getComputedStyle: (of: object) => { backgroundColor: string };
interface Violation {
  violatedDirective: string;
  blockedURI: string;
  sourceFile: string;
  lineNumber: number;
}

/** Looking for barriers takes seconds where the machine is busy. */
jest.setTimeout(120_000);

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** at its introduction; the address of an operation opens that */
const SWAGGER_UI = '/docs#/';
const SCHEMES = ['light', 'dark'] as const;

/** Everything that a page did which a reader, or a network without the Internet, would not forgive. */
async function watch(page: Page, origin: string): Promise<string[]> {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
      faults.push(`elsewhere: ${request.url()}`);
    }
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()}: ${response.url()}`);
  });
  await page.exposeFunction('reportViolation', (violation: string) => faults.push(`policy: ${violation}`));
  await page.addInitScript(() => {
    const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void };
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
      reportViolation(`${violatedDirective} ${blockedURI} ${sourceFile}:${lineNumber}`),
    );
  });
  return faults;
}

/**
 * What axe finds: each fault, and where.
 * @param impacts those that keep people out; dialogs and bodies of Swagger UI's have lesser ones
 */
async function barriers(page: Page, impacts: unknown[] = ['serious', 'critical']): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  );
  return violations
    .filter(({ impact }) => impacts.includes(impact))
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')} ${failureSummary}`),
    );
}

const ALL = ['minor', 'moderate', 'serious', 'critical'];

/** Pixels by which the page is wider than the window. */
const overhang = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** 0 (black) to 255 (white) */
const brightness = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const [r = 0, g = 0, b = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
    return (r + g + b) / 3;
  });

unless(NO_CHROMIUM)(`pages in a browser${NO_CHROMIUM}`, () => {
  let lanyard: InProcess;
  let origin: string;
  let tenant: Tenant;
  let browser: Browser;
  let context: BrowserContext;
  beforeAll(async () => {
    lanyard = await startInProcess();
    origin = new URL(lanyard.baseUrl).origin;
    tenant = await lanyard.tenant();
    await tenant.api.post('/leads', leadInput({ firstName: 'Ottoline' })).expect(200);
    browser = await chromium.launch({ executablePath });
  });
  afterEach(() => context.close());
  afterAll(() => browser?.close());

  const open = async (
    path: string,
    colorScheme: (typeof SCHEMES)[number],
    viewport = DESKTOP,
  ): Promise<{ page: Page; faults: string[] }> => {
    context = await browser.newContext({ baseURL: origin, colorScheme, viewport, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const faults = await watch(page, origin);
    await page.goto(path, { waitUntil: 'networkidle' });
    if (path.includes('#')) await page.locator('.opblock').first().waitFor();
    return { page, faults };
  };

  describe.each(['/', '/docs', SWAGGER_UI])('%s', (path) => {
    it.each(SCHEMES)('is quiet, at home, %s and open to all', async (scheme) => {
      const { page, faults } = await open(path, scheme);
      expect(faults).toEqual([]);
      expect((await brightness(page)) > 128).toBe(scheme === 'light');
      expect(await barriers(page, ALL)).toEqual([]);
    });

    it.each(SCHEMES)('fits a phone, %s', async (scheme) => {
      const { page } = await open(path, scheme, PHONE);
      expect(await overhang(page)).toBe(0);
      expect(await barriers(page, ALL)).toEqual([]);
    });
  });

  it('opens an operation from the index, and goes back to it', async () => {
    const { page, faults } = await open('/docs', 'light');
    await page.getByRole('link', { name: 'GET /leadActivityEvents', exact: true }).click();
    await page.locator('#operations-Lead_activity_events-listLeadActivityEvents .execute').waitFor();
    expect(await page.getByRole('heading', { name: 'API reference' }).isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByRole('heading', { name: 'API reference' }).waitFor();
    expect(faults).toEqual([]);
  });

  it.each(SCHEMES)('lets a reader with a key try an operation out, %s', async (scheme) => {
    const { page, faults } = await open(SWAGGER_UI, scheme);
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByRole('textbox').fill(tenant.key);
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Authorize' }).click();
    await dialog.getByRole('button', { name: 'Close' }).first().click();

    const operation = page.locator('#operations-Leads-listLeads');
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table').first();
    await answer.getByText('Ottoline').waitFor();
    expect(await answer.locator('tbody .response-col_status').first().innerText()).toMatch(/^200/);
    expect(await answer.innerText()).toMatch(/x-ratelimit-remaining/i);
    expect(await barriers(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it.each(SCHEMES)('keeps nobody out of bodies, choices and schemas, %s', async (scheme) => {
    const { page, faults } = await open(SWAGGER_UI, scheme);
    for (const operation of ['Leads-createLead', 'Lead_activity_events-listLeadActivityEvents']) {
      await page.locator(`#operations-${operation} .opblock-summary-control`).click();
      await page.locator(`#operations-${operation} .execute`).waitFor();
    }
    await page.locator('.models-control').click();
    await page.locator('.json-schema-2020-12-accordion').first().click();
    expect(await barriers(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('follows the system from light to dark', async () => {
    const { page } = await open(SWAGGER_UI, 'light');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await brightness(page)).toBeLessThan(64);
    await page.locator('html.dark-mode').waitFor(); // a script's doing, a moment later
  });

  it('forgets a key with the page', async () => {
    const { page } = await open(SWAGGER_UI, 'light');
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.getByRole('textbox').fill(tenant.key);
    await dialog.getByRole('button', { name: 'Authorize' }).click();
    await dialog.getByRole('button', { name: 'Logout' }).waitFor();
    const kept = await context.storageState({ indexedDB: true });
    expect(JSON.stringify(kept)).not.toContain(tenant.key);
  });
});
