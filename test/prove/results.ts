import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a program found. */
export interface Result {
  /** The promise, as its row of docs/figures/reliability.json names it. */
  promise: string;
  /** The figures, as a text. */
  measured: string;
  kept: boolean;
  /** Writes that were acknowledged and read back, and how many of them were lost. */
  writes?: { checked: number; lost: number };
  /** The longest time that the promise is about, in seconds. */
  slowestSeconds?: number;
}

interface Row extends Omit<Result, 'kept' | 'slowestSeconds'> {
  target: string;
  /** null until it has been measured in full */
  kept: boolean | null;
  command: string;
  date: string;
  commit: string;
  slowest?: { label: string; seconds: number; limitSeconds?: number };
}

const ROOT = join(__dirname, '../..');
const FILE = join(ROOT, 'docs/figures/reliability.json');

/**
 * Prints a result, writes it into its row of docs/figures/reliability.json, and draws docs/reliability.md anew.
 * @param isFull whether the full count was run: the result of a part of it is only printed
 */
export function record({ promise, measured, kept, writes, slowestSeconds }: Result, isFull: boolean): void {
  process.stdout.write(`${kept ? 'kept' : 'BROKEN'}${isFull ? '' : ' so far'}: ${promise}: ${measured}\n`);
  const rows = JSON.parse(readFileSync(FILE, 'utf8')) as Row[];
  const row = rows.find((each) => each.promise === promise);
  if (!row) throw new Error(`docs/figures/reliability.json has no promise '${promise}'`);
  if (!isFull) return;
  Object.assign(row, { measured, kept, date: today(), commit: commit() });
  if (row.writes && writes) Object.assign(row.writes, writes);
  if (row.slowest && slowestSeconds !== undefined) row.slowest.seconds = slowestSeconds;
  writeFileSync(FILE, `${JSON.stringify(rows, null, 2)}\n`);
  execFileSync(process.execPath, [join(ROOT, 'scripts/figures.mjs')]);
}

const today = (): string => new Date().toISOString().slice(0, 10);

/** The commit that was measured, with a plus when files differ from it. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: __dirname, encoding: 'utf8' }).trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '../src') ? '+' : '');
}
