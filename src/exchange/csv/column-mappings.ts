import { normalizedName } from '../datasets/similar-names';
import type { CsvColumn, ColumnMapping } from './csv-options';

/** The name of a column in letters and digits. `Attendee #` is a number, not an attendee. */
export const columnKey = (name: string): string => normalizedName(name.replace(/#\s*$/, ' number'));

/**
 * The mappings of a column. One for this column alone, such as `Phone#2`, wins over those for all columns with the name.
 * @param nth the number of columns with the name, up to and including this one
 */
export function mappingsOf(mappings: ColumnMapping[], name: string, nth: number): ColumnMapping[] {
  if (mappings.length === 0) return mappings;
  const key = columnKey(name);
  const number = `#${nth}`;
  const ofColumn = mappings.filter(
    ({ column }) => column.endsWith(number) && columnKey(column.slice(0, -number.length)) === key,
  );
  if (ofColumn.length > 0) return ofColumn;
  // `Phone#2` is no other name of a column `Phone 2`.
  const isForName = (column: string): boolean => !/#\d+$/.test(column) || column === name.trim();
  return mappings.filter(({ column }) => isForName(column) && columnKey(column) === key);
}

/** How `--map` refers to a column: by its name, with a number unless it is the first column with that name. */
export const mappedName = ({ name, nth }: Pick<CsvColumn, 'name' | 'nth'>): string =>
  nth > 1 ? `${name.trim()}#${nth}` : name.trim();
