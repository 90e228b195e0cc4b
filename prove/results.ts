import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is promised: the aim, and the command that measures it. */
export const PROMISES = {
  'random operations against a model of the specification': {
    aim: '1,000,000 operations, 0 divergences',
    command: 'npm run prove:model -- --operations 1000000',
  },
  'malformed requests to every endpoint': {
    aim: '100,000 requests: 0 answers of 5xx, 0 not JSON, 0 changes of state, memory level',
    command: 'npm run prove:malformed -- --requests 100000',
  },
  'compressed bodies of many small values': {
    aim: 'every answer 413 or 503; p99 of health below 250 ms, of other organizations below 500 ms; at most 300 MiB more',
    command: 'npm run prove prove/flood.ts -- --seconds 60 --connections 200',
  },
  'every endpoint with every foreign id': {
    aim: '0 leaks, 0 writes, answers byte for byte those to an unknown id',
    command: 'npm run prove:tenancy',
  },
  'statements without an organization': {
    aim: '0 in the whole suite under row-level security',
    command: 'npm run prove:tenancy',
  },
  'API processes killed (-9) under writes': {
    aim: '200 times: 0 acknowledged writes lost, 0 duplicates, 0 half-applied PUTs',
    command: 'npm run prove:faults -- --only api-killed',
  },
  'PostgreSQL killed (-9) under writes': {
    aim: '50 times: 0 acknowledged writes lost, 0 duplicates, 0 half-applied PUTs',
    command: 'npm run prove:faults -- --only postgres-killed',
  },
  'Redis killed (-9) under writes': {
    aim: '50 times: 0 acknowledged writes lost, 0 duplicates, 0 answers of 5xx',
    command: 'npm run prove:faults -- --only redis-killed',
  },
  'one default key on four processes': {
    aim: '200 rounds of 4 × 250 requests: exactly 20 admitted in each',
    command: 'npm run prove:faults -- --only one-key',
  },
  'Redis killed, stopped and flushed under load': {
    aim: '0 answers of 5xx, p99 at most 250 ms',
    command: 'npm run prove:faults -- --only redis-away',
  },
  'PostgreSQL paused, killed, out of connections': {
    aim: 'errors within 2.1 s, recovery within 2 s of its return, bounded memory',
    command: 'npm run prove:faults -- --only postgres-away',
  },
  'failover of PostgreSQL and Redis under load': {
    aim: '0 acknowledged writes lost or doubled, 0 answers of 5xx by Redis, recovery without a restart',
    command: 'npm run prove:failover',
  },
  'SIGTERM at load': {
    aim: '20 times: 0 accepted requests lost, exit 0 within 10 s',
    command: 'npm run prove:faults -- --only sigterm',
  },
  'concurrent upserts in random orders': {
    aim: '10,000 upserts, 0 deadlock errors',
    command: 'npm run prove:faults -- --only upserts',
  },
  'revocation of a key': {
    aim: '403 within 5 s on every process',
    command: 'npm run prove:faults -- --only revocation',
  },
  'replies lost on the way': {
    aim: '1,000 lost replies, retried with an Idempotency-Key: exactly one lead each',
    command: 'npm run prove:faults -- --only lost-replies',
  },
  'canaries in every field and key': {
    aim: '0 occurrences in the logs of the API, PostgreSQL and Redis, through every fault',
    command: 'npm run prove:faults',
  },
  'mutants of access, rate limit, pipeline and contexts': {
    aim: 'at least 85 % caught by the suite, survivors explained by category ([mutants.md](mutants.md))',
    command: 'npm run prove:mutants',
  },
} as const;

/** What a program found. */
export interface Result {
  promise: keyof typeof PROMISES;
  /** the figures that came out */
  measured: string;
  kept: boolean;
}

const FILE = join(__dirname, '../docs/reliability.md');
const [BEGIN, END] = ['<!-- results: written by the programs -->\n', '<!-- end of results -->'];
const HEAD = ['promise', 'aim', 'measured', 'kept', 'command', 'when, commit'];

/**
 * Prints a result and writes it into the table of docs/reliability.md.
 * @param isFull whether it is of the full count: a part of it is no figure to publish, and only printed
 */
export function record({ promise, measured, kept }: Result, isFull: boolean): void {
  process.stdout.write(`${kept ? 'kept' : 'BROKEN'}${isFull ? '' : ' so far'}: ${promise}: ${measured}\n`);
  if (!isFull) return;
  const page = readFileSync(FILE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [table = '', after = ''] = rest.split(END);
  const stored = new Map(table.split('\n').map((line) => [line.split('|')[1]?.trim() ?? '', line]));
  const { aim, command } = PROMISES[promise];
  const row = [promise, aim, measured, kept ? 'yes' : '**no**', `\`${command}\``, `${today()}, ${commit()}`];
  stored.set(promise, lineOf(row));
  const lines = Object.entries(PROMISES).map(
    ([name, { aim, command }]) => stored.get(name) ?? lineOf([name, aim, 'not yet', '', `\`${command}\``, '']),
  );
  const written = [lineOf(HEAD), lineOf(HEAD.map(() => '---')), ...lines].join('\n');
  writeFileSync(FILE, `${before}${BEGIN}\n${written}\n\n${END}${after}`);
}

const lineOf = (cells: string[]): string => `| ${cells.join(' | ')} |`;
const today = (): string => new Date().toISOString().slice(0, 10);

/** The commit that was measured, with a plus when files differ from it. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: __dirname, encoding: 'utf8' }).trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '../src') ? '+' : '');
}
