import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from './results';

/**
 * Runs the suite of every endpoint with every foreign id, and then all suites of what clients see against servers that
 * enter PostgreSQL as a role whose statements fail when they meet a row of another organization (test/support/oracle.ts).
 * DATABASE_URL and REDIS_URL are used where they are set, as in the tests.
 */

interface Report {
  /** of jest, which is 0 when all is well, also before and after the tests; null when a signal ended it */
  status: number | null;
  numTotalTests: number;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTotalTestSuites: number;
  testResults: { assertionResults: { status: string; title: string; ancestorTitles: string[] }[] }[];
}

const folder = mkdtempSync(join(tmpdir(), 'lanyard-tenancy-'));

async function jest(arguments_: string[], environment: Record<string, string> = {}): Promise<Report> {
  const outputFile = join(mkdtempSync(join(folder, 'jest-')), 'report.json');
  const command = [
    require.resolve('jest/bin/jest'),
    ...arguments_,
    '--ci',
    '--verbose=false',
    '--json',
    `--outputFile=${outputFile}`,
  ];
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, command, {
    cwd: join(__dirname, '..'),
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [status] = await once(child, 'exit');
  return { ...JSON.parse(readFileSync(outputFile, 'utf8')), status } as Report;
}

const isGreen = ({ numPassedTests, status }: Report): boolean => numPassedTests > 0 && status === 0;

async function everyForeignId(): Promise<boolean> {
  const report = await jest(['test/api/tenancy.e2e-spec.ts']);
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const within = (title: string) => all.filter(({ ancestorTitles }) => ancestorTitles.includes(title));
  const cases = within('every endpoint with every foreign id');
  const stray = within('every endpoint with foreign ids where it takes none');
  const failed = all.filter(({ status }) => status === 'failed').length;
  const kept = isGreen(report) && cases.length > 0 && stray.length > 0;
  const measured =
    `${stray.length} endpoints, ${cases.length} requests with a foreign id in path, query or body, each beside the same ` +
    `with an unknown id; ${failed} of ${all.length} tests failed`;
  record({ promise: 'every endpoint with every foreign id', measured, kept }, true);
  return kept;
}

/** What the suites and the oracle's own test counted, summed up. */
function figuresOf(file: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    for (const [name, figure] of Object.entries(JSON.parse(line) as Record<string, number>)) {
      sums[name] = (sums[name] ?? 0) + figure;
    }
  }
  return sums;
}

async function everyStatement(): Promise<boolean> {
  const counted = join(folder, 'figures');
  const suites = ['--testMatch', '<rootDir>/test/**/*.e2e-spec.ts'];
  const report = await jest(suites, { LANYARD_TEST_ORACLE: 'rls', LANYARD_TEST_ORACLE_REPORT: counted });
  const { statements = 0, conditions = 0, caught = 0 } = figuresOf(counted);
  const kept = isGreen(report) && statements > 0 && caught > 0;
  const measured =
    `${report.numTotalTestSuites} suites, ${report.numPassedTests} tests, ${statements} statements: ` +
    `${report.numFailedTests} failed; of ${conditions} conditions taken out one at a time the oracle caught ${caught}, ` +
    `and ${conditions - caught} change nothing`;
  record({ promise: 'statements without an organization', measured, kept }, true);
  return kept;
}

async function main(): Promise<void> {
  try {
    const kept = [await everyForeignId(), await everyStatement()];
    process.exitCode = kept.every(Boolean) ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
