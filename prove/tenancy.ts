import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from './results';

/**
 * Runs the suite of every endpoint with every foreign id, and then all suites of the API against servers that enter
 * PostgreSQL as a role whose statements fail when they meet a row of another organization (test/support/oracle.ts).
 */

interface Report {
  numTotalTests: number;
  numPassedTests: number;
  numFailedTests: number;
  numTotalTestSuites: number;
  testResults: { assertionResults: { ancestorTitles: string[] }[] }[];
  /** whether tests ran, and nothing failed, in them or around them */
  isGreen: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'lanyard-tenancy-'));

async function jest(options: string[], environment: Record<string, string> = {}): Promise<Report> {
  const file = join(folder, 'report.json');
  const command = [require.resolve('jest/bin/jest'), ...options, '--ci', '--json', `--outputFile=${file}`];
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, command, { cwd: join(__dirname, '..'), env, stdio: ['ignore', 'ignore', 2] });
  const [status] = await once(child, 'exit');
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return { ...report, isGreen: status === 0 && report.numPassedTests > 0 };
}

async function everyForeignId(): Promise<boolean> {
  const report = await jest(['test/api/tenancy.e2e-spec.ts']);
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (title: string): number => all.filter(({ ancestorTitles }) => ancestorTitles.includes(title)).length;
  const cases = count('every endpoint with every foreign id');
  const endpoints = count('every endpoint with foreign ids where it takes none');
  const kept = report.isGreen && cases > 0 && endpoints > 0;
  const measured =
    `${endpoints} endpoints, ${cases} requests with a foreign id in path, query or body, each beside the same ` +
    `with an unknown id; ${report.numFailedTests} of ${report.numTotalTests} tests failed`;
  record({ promise: 'every endpoint with every foreign id', measured, kept }, true);
  return kept;
}

async function everyStatement(): Promise<boolean> {
  const counted = join(folder, 'figures');
  const suites = ['--testMatch', '<rootDir>/test/**/*.e2e-spec.ts'];
  const report = await jest(suites, { LANYARD_TEST_ORACLE: 'rls', LANYARD_TEST_ORACLE_REPORT: counted });
  const lines = readFileSync(counted, 'utf8').trim().split('\n');
  const figures = lines.map((line) => JSON.parse(line) as Record<string, number>);
  const sum = (name: string): number => figures.reduce((total, each) => total + (each[name] ?? 0), 0);
  const [statements, conditions, caught] = [sum('statements'), sum('conditions'), sum('caught')];
  const kept = report.isGreen && statements > 0 && caught > 0;
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
