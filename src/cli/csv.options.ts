import { Command, Option } from 'commander';
import type { CsvForm, Mapping } from '../datasets/csv.columns';
import { CsvService } from '../datasets/csv.service';
import { quoted } from '../datasets/quoted';
import { DATASETS } from '../sections';
import { UsageError } from './terminal/terminal';

export const CSV = new CsvService(DATASETS);

/** Options of the commands that read or write CSV. */
export interface CsvOptions {
  csv?: string;
  map?: string[];
  delimiter?: string;
  raw?: boolean;
}

export const withCsvOptions = (to: Command): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'as CSV, the records of one section').choices(CSV.sections))
    .option('--map <COLUMN=FIELD>', 'the field of a CSV column; may be repeated', collected)
    .option('--delimiter <CHARACTER>', 'between the cells of the CSV: "," by default, ";", tab …', delimiter)
    .option('--raw', 'CSV cells as they are, without a quote before formulas');

const collected = (value: string, before: string[] = []): string[] => [...before, value];

function delimiter(value: string): string {
  if (value === 'tab' || value === '\\t') return '\t';
  if ([...value].length === 1 && !/["\r\n]/.test(value)) return value;
  throw new UsageError('--delimiter must be one character, or tab');
}

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
function mappingsOf(section: string, entries: string[]): Mapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, name] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = CSV.fieldNamed(section, name);
    if (field || name === '') return { column, field };
    throw new UsageError(`--map: ${section} have no field ${name}; import --help lists the fields`);
  });
}

/** @throws UsageError when a column of an export has no field, or one that can be read only */
export function requireExported({ mappings }: CsvForm): void {
  const absent = mappings.find(({ field }) => !field?.take);
  if (absent) throw new UsageError(`--map: column ${quoted(absent.column)} needs a field that can be exported`);
}

/** @throws UsageError when options of CSV are given without --csv */
export function csvFormOf({ csv, map = [], delimiter: given, raw = false }: CsvOptions): CsvForm | undefined {
  if (csv) return { section: csv, delimiter: given ?? ',', mappings: mappingsOf(csv, map), raw };
  const without = [map.length > 0 && '--map', given && '--delimiter', raw && '--raw'].find(Boolean);
  if (without) throw new UsageError(`${without} needs --csv`);
  return undefined;
}

/** The fields of each section, as a help text. */
export const fieldsText = (): string =>
  CSV.sections
    .map((section) => {
      const names = CSV.fields(section).map(({ name }) => name);
      return `  ${section}:\n    ${wrapped(names, '    ')}`;
    })
    .join('\n');

/** Names in lines of at most 80 columns, the first of which begins after ten. */
export const wrapped = (names: readonly string[], indent: string): string =>
  names.join(', ').replace(/(.{1,69}),(?: |$)/g, `$1,\n${indent}`);
