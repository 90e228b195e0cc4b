import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import setUp from '../support/jest/global-setup';
import { record } from './results';
import { formatCount } from './support/figures';

/**
 * Runs Stryker as stryker.config.mjs has it. Options are Stryker's: `--mutate src/access/key-format.ts` for one file.
 * The tests' PostgreSQL is started once here, because Stryker starts jest again for each mutant.
 */

const ROOT = join(__dirname, '../..');
const STRYKER = join(dirname(require.resolve('@stryker-mutator/core/package.json')), 'bin/stryker.js');
const REPORT = join(ROOT, 'coverage/mutants.json');
const MIN_SCORE = 85;

function conclude(isFull: boolean): boolean {
  const metrics = JSON.parse(readFileSync(REPORT, 'utf8')) as Record<string, number>;
  const { totalDetected: caught = 0, totalUndetected: survived = 0, mutationScore: score = 0 } = metrics;
  const measured = `${formatCount(caught + survived)} mutants: ${caught} caught, ${survived} survived: ${score.toFixed(1)} %`;
  const kept = score >= MIN_SCORE;
  record({ promise: 'mutants of access, rate limit, pipeline and contexts', measured, kept }, isFull);
  return kept;
}

async function main(): Promise<number> {
  const options = process.argv.slice(2);
  rmSync(REPORT, { force: true });
  // Tests of mutants that hang are killed and leave databases: on a server of their own, which goes with them.
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'E2E_BASE_URL']) delete process.env[name];
  await setUp();
  try {
    const stryker = spawn(process.execPath, [STRYKER, 'run', ...options], { cwd: ROOT, stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stryker.kill(signal));
    const [status] = (await once(stryker, 'close')) as [number | null];
    const kept = existsSync(REPORT) && conclude(!options.some((option) => /^(-m|--mutate)/.test(option)));
    return status === 0 && kept ? 0 : 1;
  } finally {
    await globalThis.tearDownTests?.();
  }
}

void main().then((status) => process.exit(status));
