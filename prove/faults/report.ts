import type { Checked, Damage } from './invariants';
import type { Played } from './stage';

const WIDTHS = [18, 11, 46, 18, 44];
const HEAD = ['fault', 'operations', 'errors seen', 'time to recover', 'invariants checked'];
let isFirst = true;

/** One line of the table that is printed while the faults are played. */
export function row(
  name: string,
  played: Played,
  answers: Map<string, number>,
  checked: Checked[],
  kept: boolean,
): void {
  if (isFirst) line(HEAD, 'verdict');
  isFirst = false;
  const operations = [...answers.values()].reduce((all, count) => all + count, 0);
  const verdict = played.skipped ? `skipped: ${played.skipped}` : `${kept ? 'kept' : 'BROKEN'}: ${played.measured}`;
  line([name, String(operations), errorsIn(answers), spread(played.recovered), namesOf(checked)], verdict);
}

const line = (cells: string[], last: string): void =>
  void process.stdout.write(`${cells.map((cell, n) => cell.padEnd(WIDTHS[n] ?? 0)).join('  ')}  ${last}\n`);

/** Everything but success: what the load provoked (4xx) and what the fault did. */
function errorsIn(answers: Map<string, number>): string {
  const errors = [...answers].filter(([what]) => what !== '200').sort(([a], [b]) => a.localeCompare(b));
  return errors.map(([what, count]) => `${count} × ${what}`).join(', ') || 'none';
}

function spread(milliseconds: number[] = []): string {
  if (milliseconds.length === 0) return '-';
  const sorted = [...milliseconds].sort((a, b) => a - b);
  return `${seconds(sorted[sorted.length >> 1])}, at most ${seconds(sorted.at(-1))}`;
}

export const seconds = (milliseconds = 0): string => `${(milliseconds / 1000).toFixed(2)} s`;

const namesOf = (checked: Checked[]): string =>
  checked.length === 0 ? 'its own' : `${writesIn(checked)} writes, totals, check, canaries`;

const writesIn = (checked: Checked[]): number => checked.reduce((all, { writes }) => all + writes, 0);

/** The answers of all loads and the fault's own. */
export function sum(answers: Map<string, number>[], played: Played): Map<string, number> {
  const all = new Map(played.answers);
  for (const [what, count] of answers.flatMap((each) => [...each])) all.set(what, (all.get(what) ?? 0) + count);
  return all;
}

/** Whether everything is as promised, in figures, and what is not. */
export function verdictOf(
  played: Played,
  checked: Checked[],
  leaks: string[],
): { kept: boolean; measured: string; complaints: string[] } {
  const all = (kind: keyof Damage): string[] => checked.flatMap(({ damage }) => damage[kind]);
  const [lost, duplicates, halves, others] = [all('lost'), all('duplicates'), all('halves'), all('others')];
  const data =
    checked.length === 0
      ? []
      : [
          `${writesIn(checked)} acknowledged writes checked`,
          `${lost.length} lost, ${duplicates.length} duplicates, ${halves.length} half-applied`,
        ];
  const recovery = played.recovered?.length ? [`recovery ${spread(played.recovered)}`] : [];
  const complaints = [...played.broken, ...lost, ...duplicates, ...halves, ...others, ...leaks];
  const measured = [played.measured, ...data, ...recovery].join('; ');
  return { kept: complaints.length === 0, measured, complaints };
}
