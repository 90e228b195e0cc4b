import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLanyard } from '../support/lanyard';
import { describeUnless, missingProgramReason } from '../support/skipping';

const MISSING = missingProgramReason('bash', 'curl', 'jq');

/** The shell blocks of docs/getting-started.md. */
function blocks(): string[] {
  const page = readFileSync(join(__dirname, '../../docs/getting-started.md'), 'utf8');
  return [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

describeUnless(MISSING)(`the walk-through of docs/getting-started.md${MISSING}`, () => {
  it('runs as it stands, pasted in one go, and its copy waits for tokens', async () => {
    const lanyard = await startLanyard();
    const { key } = await lanyard.tenant({ maxTokens: 20, refillRate: 1 });
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-walk-'));
    const all = blocks();
    const copy = all.filter((block) => block.includes('/changes?'));
    // The last block leaves the bucket empty.
    const script = ['set -euo pipefail', ...all, 'echo AGAIN', ...copy].join('\n');
    const env = { ...process.env, LANYARD_URL: lanyard.baseUrl, LANYARD_KEY: key };
    const output = (await promisify(execFile)('bash', ['-c', script], { cwd: folder, env })).stdout;
    rmSync(folder, { recursive: true });
    const [stdout, again] = output.split('AGAIN\n');

    expect(stdout).toMatch(/"total": 2\n/);
    expect(stdout).toMatch(/^\{"outcome":"updated","id":"([\w-]{36})"\}\n"[\w-]{36}"\n/m);
    const copied =
      /^\["snapshot","events",\d+\]\n(\["snapshot","leads","[\w-]{36}"\]\n){3}(\["snapshot","eventLeads",\d+,"[\w-]{36}"\]\n){2}/m;
    expect(stdout).toMatch(copied);
    expect(again).toMatch(copied);
    expect(stdout).toContain('"jobTitle": "Head of Procurement"');
    expect(stdout).toContain('"number": "+44 20 7946 0123"');
    expect(stdout).toContain('"integrationType": "SALES_FORCE"');
    expect(stdout).toMatch(/"registered":true,"checkedIn":true\}\n\{.*"registered":false,"checkedIn":false\}\n/);
    expect(stdout).toMatch(/429: waiting [1-9]\d* s\n200\n$/);
  });
});
