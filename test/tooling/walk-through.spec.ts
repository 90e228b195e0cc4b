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
    const { key } = await lanyard.tenant({ maxTokens: 20, refillRate: 1 });
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-walk-'));
    const script = `set -euo pipefail\n${blocks('The first five minutes')}`;
    const env = { ...process.env, BASE: lanyard.baseUrl, KEY: key };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env });
    rmSync(folder, { recursive: true });

    expect(stdout).toContain('"jobTitle": "Head of Procurement"');
    expect(stdout).toContain('"number": "+44 20 7946 0123"');
    expect(stdout).toContain('"integrationType": "SALES_FORCE"');
    expect(stdout).toMatch(/"registered":true,"checkedIn":true\}\n\{.*"registered":false,"checkedIn":false\}\n/);
    expect(stdout).toMatch(/429: waiting [1-9]\d* s\n200\n$/);
  });
});
