import { normalizedName } from '../datasets/closest-name';
import type { CsvColumn, ColumnMapping } from './csv-format';

/** The name of a column in letters and digits. `Attendee #` is a number, and no attendee. */
export const columnKey = (name: string): string => normalizedName(name.replace(/#\s*$/, ' number'));

/**
 * The mappings of a column. One that names it alone, such as `Phone#2`, wins over those that name all columns of a name.
 * @param nth how many columns of the name there are up to this one
 */
export function mappingsOf(mappings: ColumnMapping[], name: string, nth: number): ColumnMapping[] {
  if (mappings.length === 0) return mappings;
  const key = columnKey(name);
  const exact = mappings.filter(({ column }) => column === name.trim() && /#\d+$/.test(column));
  if (exact.length > 0) return exact;
  const numbered = mappings.filter(({ column }) => {
    const [, base = '', number] = /^(.+)#(\d+)$/.exec(column) ?? [];
    return Number(number) === nth && columnKey(base) === key;
  });
  if (numbered.length > 0) return numbered;
  return mappings.filter(({ column }) => !/#\d+$/.test(column) && columnKey(column) === key);
}

/** What `--map` calls a column: its name, with its number if it is not the first column of the name. */
export const mappedName = ({ name, nth }: Pick<CsvColumn, 'name' | 'nth'>): string =>
  nth > 1 ? `${name.trim()}#${nth}` : name.trim();
