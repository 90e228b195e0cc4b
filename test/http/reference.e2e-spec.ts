import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Browser, chromium, type Page } from 'playwright-core';
import { parse } from 'yaml';
import { leadInput } from '../support/builders';
import { Lanyard, startLanyard, Tenant } from '../support/lanyard';
import { describeUnless } from '../support/skipping';

/** The system's browser, for playwright-core brings none of its own; Debian's name first. */
const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(folder, name)))
  .find((file) => existsSync(file));
const NO_CHROMIUM = executablePath ? '' : ' (skipped: no chromium on the PATH)';

describe('the reference', () => {
  let lanyard: Lanyard;
  let origin: string;
  beforeAll(async () => {
    lanyard = await startLanyard();
    origin = new URL(lanyard.baseUrl).origin;
  });

  /** Read to its end: an answer of which something is left keeps its connection, and with it the server. */
  const get = async (path: string, key = 'x') => {
    const answer = await fetch(origin + path, { headers: { 'x-api-key': key }, redirect: 'manual' });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  it('is where the root leads', async () => {
    const { status, headers } = await get('/');
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
  });

  it('has the document as it is checked in, as JSON and as YAML', async () => {
    const checkedIn: unknown = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8'));
    expect(JSON.parse((await get('/openapi.json')).text)).toEqual(checkedIn);
    const { status } = await fetch(`${origin}/openapi.yaml`, { method: 'POST' });
    expect(status).toBe(404);
    for (const time of ['made', 'kept']) {
      const yaml = await get('/openapi.yaml');
      expect([time, yaml.headers.get('content-type')]).toEqual([time, 'text/yaml; charset=utf-8']);
      expect(parse(yaml.text)).toEqual(checkedIn);
    }
  });

  it('shows the scopes of each operation, which Swagger UI does not find in its security requirement', async () => {
    const { paths } = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject;
    const { text } = await get('/docs/swagger-ui-init.js');
    const shown = [...text.matchAll(/Scopes of keys: `([^"]*)`/g)].map(([, scopes]) => scopes);
    const roles = Object.values(paths).flatMap((path) =>
      Object.values(path as Record<string, { security: Record<string, string[]>[] }>).map(({ security }) =>
        security[0]?.apiKey?.join('`, `'),
      ),
    );
    expect(shown).toEqual(roles);
    expect(shown).toContain('all`, `capture');
  });

  it('takes no token, and minds no key', async () => {
    const { key, api } = await lanyard.tenant({ maxTokens: 1, refillRate: 0.001 });
    for (const path of ['/docs', '/docs/swagger-ui.css', '/openapi.json', '/openapi.yaml']) {
      for (const each of [key, 'x']) {
        const answer = await get(path, each);
        expect([path, answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([path, 200, null]);
      }
    }
    await api.get('/leads').expect(200);
    await api.get('/leads').expect(429);
  });

  it('has a policy of its own, and nothing else has', async () => {
    const policyOf = async (path: string) => (await get(path)).headers.get('content-security-policy');
    expect(await policyOf('/docs')).toMatch(/^default-src 'none';script-src 'self';/);
    for (const path of ['/', '/api/v0/leads', '/health/live', '/openapi.json', '/nothing']) {
      expect([path, await policyOf(path)]).toEqual([path, "default-src 'none';frame-ancestors 'none'"]);
    }
  });

  it.each(['/openapi', '/assets', '/favicon.ico', '/docs/nothing', '/docs/LICENSE', '/docs/..%2fpackage.json'])(
    'is not %s',
    async (path) => {
      const { status, text } = await get(path);
      expect([status, JSON.parse(text)]).toEqual([404, { status: 404, error: 'Not Found' }]);
    },
  );

  describeUnless(NO_CHROMIUM)(`in a browser${NO_CHROMIUM}`, () => {
    let tenant: Tenant;
    let browser: Browser;
    let page: Page;
    const faults: string[] = [];
    beforeAll(async () => {
      tenant = await lanyard.tenant();
      await tenant.api.post('/leads', leadInput({ firstName: 'Ottoline' })).expect(200);
      browser = await chromium.launch({ executablePath });
      page = await browser.newPage({ baseURL: origin, ignoreHTTPSErrors: true });
      page.setDefaultTimeout(60_000);
      // A refusal of the page's policy is an error on its console.
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) faults.push(message.text());
      });
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('request', (request) => {
        if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
          faults.push(request.url());
      });
    });
    afterAll(() => browser?.close());

    const listLeads = () => page.locator('#operations-Leads-listLeads');

    it('answers an operation that is tried out with a key, which is kept over a reload', async () => {
      await page.goto('/');
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      const dialog = page.locator('.dialog-ux');
      await dialog.getByRole('textbox').fill(tenant.key);
      await dialog.getByRole('button', { name: 'Apply credentials' }).click();
      await dialog.getByRole('button', { name: 'Remove authorization' }).waitFor();

      await page.goto('/docs');
      await page.getByPlaceholder('Filter by tag').fill('Leads');
      await page.locator('#operations-tag-Activations').waitFor({ state: 'detached' });
      await listLeads().locator('.opblock-summary-control').click();
      await listLeads().getByRole('button', { name: 'Execute' }).click();
      const answer = listLeads().locator('.live-responses-table').first();
      await answer.getByText('Ottoline').waitFor();
      expect(await answer.locator('tbody .response-col_status').first().innerText()).toMatch(/^200/);
      expect(faults).toEqual([]);
    }, 120_000);
  });
});
