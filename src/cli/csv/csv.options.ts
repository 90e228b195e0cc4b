import { Command, Option } from 'commander';
import { UsageError } from '../terminal/terminal';
import { type Mapping, mappingsOf } from './csv.columns';
import type { SectionName } from '../import/sections';
import { CSV_FIELDS, CSV_SECTIONS } from './csv.fields';

/** How a CSV file is written and what its columns mean. */
export interface CsvForm {
  section: SectionName;
  delimiter: string;
  mappings: Mapping[];
  /** cells are as they are, without a quote before a formula */
  raw: boolean;
}

/** Options of the commands that read or write CSV. */
export interface CsvOptions {
  csv?: SectionName;
  map?: string[];
  delimiter?: string;
  raw?: boolean;
}

export const withCsvOptions = (to: Command): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'as CSV, the records of one section').choices(CSV_SECTIONS))
    .option('--map <COLUMN=FIELD>', 'the field of a CSV column; may be repeated', collected)
    .option('--delimiter <CHARACTER>', 'between the cells of the CSV: "," by default, ";", tab …', delimiter)
    .option('--raw', 'CSV cells as they are, without a quote before formulas');

const collected = (value: string, before: string[] = []): string[] => [...before, value];

function delimiter(value: string): string {
  if (value === 'tab' || value === '\\t') return '\t';
  if ([...value].length === 1 && !/["\r\n]/.test(value)) return value;
  throw new UsageError('--delimiter must be one character, or tab');
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
  CSV_SECTIONS.map((section) => {
    const names = CSV_FIELDS[section].map(({ name }) => name);
    return `  ${section}:\n    ${wrapped(names, '    ')}`;
  }).join('\n');

/** Names in lines of at most 80 columns, the first of which begins after ten. */
export const wrapped = (names: readonly string[], indent: string): string =>
  names.join(', ').replace(/(.{1,69}),(?: |$)/g, `$1,\n${indent}`);
