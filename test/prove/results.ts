import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a program found. */
export interface Result {
  /** as the first column of the table in docs/reliability.md names it */
  promise: string;
  /** the figures that came out */
  measured: string;
  kept: boolean;
}

const FILE = join(__dirname, '../../docs/reliability.md');

/**
 * Prints a result, and writes it into its row of docs/reliability.md, which has the aim and the command.
 * @param isFull whether the full count was run: what a part of it gives is only printed
 */
export function record({ promise, measured, kept }: Result, isFull: boolean): void {
  process.stdout.write(`${kept ? 'kept' : 'BROKEN'}${isFull ? '' : ' so far'}: ${promise}: ${measured}\n`);
  const lines = readFileSync(FILE, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith(`| ${promise} |`));
  if (at < 0) throw new Error(`docs/reliability.md promises nothing like '${promise}'`);
  if (!isFull) return;
  const [, , aim, , , command] = (lines[at] ?? '').split('|').map((cell) => cell.trim());
  const row = [promise, aim, measured, kept ? 'yes' : '**no**', command, `${today()}, ${commit()}`];
  lines[at] = `| ${row.join(' | ')} |`;
  writeFileSync(FILE, lines.join('\n'));
}

const today = (): string => new Date().toISOString().slice(0, 10);

/** The commit that was measured, with a plus when files differ from it. */
function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: __dirname, encoding: 'utf8' }).trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', '../src') ? '+' : '');
}
