import { type IssueCollector, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { columnKey } from './column-mappings';
import { type ColumnNames, wordsOf } from './column-names';
import { listNames, missingColumn } from './csv-columns';
import type { CsvFormat } from './csv-options';
import { MAX_COUNTED, type Survey } from './csv-survey';
import { trimInvisible } from './csv-values';

/** How many rows a column of states has of each. */
export interface ColumnStates {
  column: string;
  counts: ReadonlyMap<string, number>;
  /** How many rows are of people who do not come, and which states say so. */
  outCount: number;
  isOut: (state: string) => boolean;
}

/** Whether a row with these cells is imported. */
export type RowSelection = (cells: string[]) => boolean;

/** Whether a state says that somebody does not come: as a whole, such as `Not Attending`, or by one of its words. */
export function hasOutState(state: string, outStates: readonly string[]): boolean {
  const words = wordsOf(state);
  return [words.join(' '), ...words].some((text) => outStates.includes(text));
}

/** How many rows there are of each state, by the columns of states. States in another letter case are the same. */
export function statesOf({ header, facts }: Survey, names: ColumnNames): ColumnStates[] {
  const isOut = (state: string): boolean => hasOutState(state, names.words.outStates);
  return [...facts].flatMap(([index, known]) => {
    const column = header.names[index] ?? '';
    if (!names.isState(column)) return [];
    const counts = new Map<string, number>();
    for (const [value, count] of known.counts) {
      const state = [...counts.keys()].find((each) => each.toLowerCase() === value.toLowerCase()) ?? value;
      counts.set(state, (counts.get(state) ?? 0) + count);
    }
    return [{ column, counts, outCount: known.countOf(isOut), isOut }];
  });
}

/** Which rows `--only` selects. */
export function rowSelection({ only }: CsvFormat, { header, facts }: Survey, issues: IssueCollector): RowSelection {
  const normalized = (text = ''): string => trimInvisible(text).toLowerCase();
  const conditions = only.map(({ column, values }) => {
    const index = header.names.findIndex((name) => columnKey(name) === columnKey(column));
    if (index < 0) issues.add(missingColumn('--only', column, header.names));
    const inColumn = facts.get(index)?.differentValues ?? [];
    for (const value of index < 0 ? [] : values) {
      if (
        value === '' ||
        inColumn.some((each) => normalized(each) === normalized(value)) ||
        inColumn.length >= MAX_COUNTED
      )
        continue;
      const message = `--only: No row has ${quoteShortened(value)} in ${quote(column)}. Its values are ${listNames(inColumn, quoteShortened)}.`;
      issues.add({ ...NO_LOCATION, expected: 'a value of the column', message });
    }
    return { index, values: new Set(values.map(normalized)) };
  });
  return (cells) => conditions.every(({ index, values }) => values.has(normalized(cells[index])));
}
