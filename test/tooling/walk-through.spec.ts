import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLanyard } from '../support/lanyard';
import { unless, without } from '../support/skipping';

const MISSING = without('bash', 'curl', 'jq');

/** The shell blocks of a chapter of docs/getting-started.md. */
function blocks(chapter: string): string {
  const page = readFileSync(join(__dirname, '../../docs/getting-started.md'), 'utf8');
  const text = page.split(`\n## ${chapter}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('\n');
}

unless(MISSING)(`the walk-through of docs/getting-started.md${MISSING}`, () => {
  it('runs as it stands', async () => {
    const lanyard = await startLanyard();
    const { key, issueKey } = await lanyard.tenant({ maxTokens: 20, refillRate: 1 });
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-walk-'));
    const run = async (script: string, KEY: string): Promise<string> => {
      const env = { ...process.env, BASE: lanyard.baseUrl, KEY };
      return (await promisify(execFile)('bash', ['-c', `set -euo pipefail\n${script}`], { cwd: folder, env })).stdout;
    };
    const start = blocks('The first five minutes');
    const stdout = await run(start, key);
    // The first key has no tokens left.
    const { key: other } = await issueKey({});
    const more = await run(`${start.split('\n\n')[0]}\n${blocks('What a client does')}`, other);
    rmSync(folder, { recursive: true });

    expect(more).toMatch(/"total": 2\n/);
    expect(more).toMatch(/^\{"outcome":"updated","id":"([\w-]{36})"\}\n"[\w-]{36}"\n/m);
    expect(more).toMatch(
      /^\["snapshot","events",\d+\]\n(\["snapshot","leads","[\w-]{36}"\]\n){3}(\["snapshot","eventLeads",.*\n){2}$/m,
    );
    expect(stdout).toContain('"jobTitle": "Head of Procurement"');
    expect(stdout).toContain('"number": "+44 20 7946 0123"');
    expect(stdout).toContain('"integrationType": "SALES_FORCE"');
    expect(stdout).toMatch(/"registered":true,"checkedIn":true\}\n\{.*"registered":false,"checkedIn":false\}\n/);
    expect(stdout).toMatch(/429: waiting [1-9]\d* s\n200\n$/);
  });
});
