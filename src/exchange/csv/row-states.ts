import { type IssueCollector, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { wordsOf } from '../datasets/similar-names';
import { type ColumnFacts, MAX_COUNTED } from './column-facts';
import { columnKey } from './column-mappings';
import { listTexts, missingColumn } from './csv-columns';
import type { CsvFormat } from './csv-options';
import type { Survey } from './csv-survey';
import { trimInvisible } from './csv-values';
import { outStates } from './words.json';

/** Whether a row with these cells is imported. */
export type RowSelection = (cells: string[]) => boolean;

/** Whether a state says that somebody does not come: as a whole, such as `Not Attending`, or by one of its words. */
export function isOutState(state: string): boolean {
  const words = wordsOf(state);
  return [words.join(' '), ...words].some((text) => outStates.includes(text));
}

/** How many rows there are of each state in a column of states. States in another letter case are the same. */
export function statesOf({ counts }: ColumnFacts): Map<string, number> {
  const states = new Map<string, number>();
  for (const [value, count] of counts) {
    const state = [...states.keys()].find((each) => each.toLowerCase() === value.toLowerCase()) ?? value;
    states.set(state, (states.get(state) ?? 0) + count);
  }
  return states;
}

/** Which rows `--only` selects. Each of its values must be in the file: a mistyped one of several would only select fewer rows. */
export function rowSelection(
  { only = [] }: CsvFormat,
  { header, facts }: Survey,
  issues: IssueCollector,
): RowSelection {
  const normalized = (text = ''): string => trimInvisible(text).toLowerCase();
  const selected = new Map<number, Set<string>>();
  for (const { column, value } of only) {
    const index = header.names.findIndex((name) => columnKey(name) === columnKey(column));
    const values = facts.get(index)?.differentValues ?? [];
    const isKnown = values.some((each) => normalized(each) === normalized(value));
    if (index < 0) issues.add(missingColumn('--only', column, header.names));
    else if (value !== '' && !isKnown && values.length < MAX_COUNTED) {
      const known = listTexts(values.map(quoteShortened));
      const message = `--only: No row has ${quoteShortened(value)} in ${quote(column)}. Its values are ${known}.`;
      issues.add({ ...NO_LOCATION, expected: 'a value of the column', message });
    }
    selected.set(index, (selected.get(index) ?? new Set()).add(normalized(value)));
  }
  return (cells) => [...selected].every(([index, values]) => values.has(normalized(cells[index])));
}
