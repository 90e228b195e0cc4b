import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import setUp from '../test/support/global-setup';
import { type Mutant, type Report, tally, unexplained, unneeded, updated } from './mutants/report';
import { record } from './results';

/** The guards, the checks, the bucket, pagination and the deduplication. */
const FILES = [
  'src/access/{access.guard,access.service,authentication-failures,in-process-failures,key-format}.ts',
  'src/rate-limit/{circuit-breaker,in-process-token-bucket.store,rate-limit.guard}.ts',
  'src/rate-limit/{resilient-token-bucket.store,token-bucket}.ts',
  'src/http/{body.guard,error.filter,fields,idempotency.guard,parameters,plain-json,unfinished}.ts',
  'src/http/{reader,request,text,validation.pipe}.ts',
  'src/database/{errors,idempotent-answers,listings,statements,together,turns,writes}.ts',
  'src/leads/leads.service.ts',
  'src/events/{event-leads.service,events.service}.ts',
  'src/industry-events/{bookmarks.service,industry-events.service}.ts',
].flatMap((pattern) => {
  const [, before = '', names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names ? names.split(',').map((name) => before + name + after) : [pattern];
});

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    /** where to keep Stryker's report, which says what each test caught, and to go on from */
    report: { type: 'string' },
  },
});
const files = FILES.filter((file) => values.only.split(',').some((part) => file.includes(part)));
if (files.length === 0) {
  process.stderr.write(`--only PART,… of the names of\n${FILES.map((file) => `  ${file}\n`).join('')}`);
  process.exit(2);
}

/** Files that are judged in one go: each has all suites run once more, to see which of them reaches what. */
const PART = 6;

const ROOT = join(__dirname, '..');
const STRYKER = join(dirname(require.resolve('@stryker-mutator/core/package.json')), 'bin/stryker.js');

const optionsOf = (folder: string, mutated: string[]): object => ({
  mutate: mutated,
  // Texts are messages, names and SQL. Messages and names are no checks; what SQL must not forget is proven by
  // prove:tenancy, and an empty statement would show nothing but that it is run.
  mutator: { excludedMutations: ['StringLiteral'] },
  plugins: [join(__dirname, 'mutants/runner.mjs')],
  ignorers: ['lazy-types'],
  testRunner: 'suites',
  coverageAnalysis: 'perTest',
  // What hangs waits, and needs no core for it.
  concurrency: availableParallelism() + 1,
  // What libraries remember of modules that were loaded anew stays in a process's memory.
  maxTestRunnerReuse: 100,
  // What hangs is mostly caught by a test's own time limit, and what goes in circles by the count of its turns.
  timeoutMS: 60_000,
  timeoutFactor: 3,
  dryRunTimeoutMinutes: 15,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: join(folder, 'report.json') },
  tempDirName: join(folder, 'sandbox'),
  ignorePatterns: ['/bench', '/coverage', '/dist', '/.data', '/docs', '/examples'],
  allowConsoleColors: false,
  disableTypeChecks: 'src/**/*.ts',
});

/** Runs Stryker in a process of its own. @returns its report */
async function mutate(folder: string, mutated: string[]): Promise<Report> {
  const config = join(folder, 'stryker.json');
  writeFileSync(config, JSON.stringify(optionsOf(folder, mutated)));
  const child = spawn(process.execPath, [STRYKER, 'run', config], { cwd: ROOT, stdio: 'inherit' });
  const stop = (): void => void child.kill();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const status = await new Promise((resolve) => child.once('close', resolve));
  if (status !== 0) throw new Error('Stryker did not come to an end');
  return reportIn(join(folder, 'report.json'));
}

const reportIn = (file: string): Report => JSON.parse(readFileSync(file, 'utf8')) as Report;

/** What the kept report says of files that are as they were. */
function known(): Report {
  if (!values.report || !existsSync(values.report)) return { files: {} };
  const kept = Object.entries(reportIn(values.report).files).filter(
    ([file, { source }]) => FILES.includes(file) && source === readFileSync(join(ROOT, file), 'utf8'),
  );
  return { files: Object.fromEntries(kept) };
}

async function run(): Promise<boolean> {
  let report = known();
  const survivors = unexplained(report).filter(({ file }) => files.includes(file));
  const mutated = [
    ...files.filter((file) => !(file in report.files)),
    ...new Set(survivors.map(({ file, line, lastLine }) => `${file}:${line}-${lastLine}`)),
  ];
  for (const part of inParts(mutated)) {
    report = updated(report, await judge(part));
    if (values.report) writeFileSync(values.report, JSON.stringify(report));
  }
  return conclude(report);
}

/** What is judged in one go. A kept report is written after each, so that an interrupted run loses one of them at most. */
function inParts(mutated: string[]): string[][] {
  const size = values.report ? PART : Math.max(mutated.length, 1);
  return Array.from({ length: Math.ceil(mutated.length / size) }, (_, n) => mutated.slice(n * size, (n + 1) * size));
}

async function judge(mutated: string[]): Promise<Report> {
  // Mutants that hang are killed with the tests around them, and leave databases behind: on a server that goes anyway.
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'E2E_BASE_URL']) delete process.env[name];
  const folder = mkdtempSync(join(tmpdir(), 'lanyard-mutants-'));
  try {
    await setUp();
    return await mutate(folder, mutated);
  } finally {
    await globalThis.tearDownTests?.();
    rmSync(folder, { recursive: true, force: true });
  }
}

const line = ({ file, line, mutator, code, replacement }: Mutant): string =>
  `  ${file}:${line} ${mutator}\n    - ${code}\n    + ${replacement}\n`;

function conclude(report: Report): boolean {
  const { perFile, sum } = tally(report);
  for (const [file, figures] of perFile) process.stdout.write(`${file}: ${figures}\n`);
  const survivors = unexplained(report);
  if (survivors.length > 0) process.stdout.write(`survived, unexplained:\n${survivors.map(line).join('')}`);
  const spare = unneeded(report);
  for (const { file, code } of spare) process.stdout.write(`explained, but no survivor: ${file}: ${code}\n`);
  const kept = survivors.length === 0 && spare.length === 0;
  const promise = 'guards and checks taken out, one at a time';
  const isFull = FILES.every((file) => file in report.files);
  record({ promise, measured: sum, kept }, isFull);
  return kept;
}

run().then(
  (kept) => process.exit(kept ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
