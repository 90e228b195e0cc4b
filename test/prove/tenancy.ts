import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from './results';

/**
 * Runs the suites of the API against servers that enter PostgreSQL as a role whose statements fail when they meet a row
 * of another organization (test/support/oracle.ts). Among them is that of every endpoint with every foreign id.
 */

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numTotalTestSuites: number;
  testResults: { name: string; assertionResults: { ancestorTitles: string[]; status: string }[] }[];
  /** whether tests ran, and nothing failed, in them or around them */
  isGreen: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'lanyard-tenancy-'));
const figuresFile = join(folder, 'figures');

async function runSuites(): Promise<Report> {
  const file = join(folder, 'report.json');
  const suites = ['--testMatch', '<rootDir>/test/**/*.e2e-spec.ts'];
  const command = [require.resolve('jest/bin/jest'), ...suites, '--ci', '--json', `--outputFile=${file}`];
  const env = { ...process.env, LANYARD_TEST_ORACLE: 'rls', LANYARD_TEST_ORACLE_REPORT: figuresFile };
  const child = spawn(process.execPath, command, {
    cwd: join(__dirname, '../..'),
    env,
    stdio: ['ignore', 'ignore', 2],
  });
  const [status] = await once(child, 'exit');
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  return { ...report, isGreen: status === 0 && report.numPassedTests > 0 };
}

function everyForeignId({ testResults }: Report): boolean {
  const all = testResults.flatMap(({ name, assertionResults }) => (/\btenancy\./.test(name) ? assertionResults : []));
  const count = (title: string): number => all.filter(({ ancestorTitles }) => ancestorTitles.includes(title)).length;
  const cases = count('every endpoint with every foreign id');
  const endpoints = count('every endpoint with foreign ids where it takes none');
  const failed = all.filter(({ status }) => status === 'failed').length;
  const kept = failed === 0 && cases > 0 && endpoints > 0;
  const measured =
    `${endpoints} endpoints, ${cases} requests with a foreign id in path, query or body, each beside the same ` +
    `with an unknown id; ${failed} of ${all.length} tests failed`;
  record({ promise: 'every endpoint with every foreign id', measured, kept }, true);
  return kept;
}

function everyStatement(report: Report): boolean {
  const lines = readFileSync(figuresFile, 'utf8').trim().split('\n');
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

void runSuites()
  .then((report) => {
    const kept = [everyForeignId(report), everyStatement(report)];
    process.exitCode = kept.every(Boolean) ? 0 : 1;
  })
  .finally(() => rmSync(folder, { recursive: true, force: true }));
