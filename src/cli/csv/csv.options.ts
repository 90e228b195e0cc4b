import { Command, Help, Option } from 'commander';
import { type Mapping, mappingsOf } from './csv.columns';
import { CSV_FIELDS, CSV_SECTIONS, CsvSection } from './csv.fields';
import { UsageError } from '../terminal/terminal';

/** How a CSV file is written and what its columns mean. */
export interface CsvForm {
  section: CsvSection;
  delimiter: string;
  mappings: Mapping[];
  /** cells are as they are: no quote stands before what looks like a formula */
  raw: boolean;
}

/** Options of the commands that read or write CSV. */
export interface CsvOptions {
  csv?: CsvSection;
  map?: string[];
  delimiter?: string;
  raw?: boolean;
}

export const withCsvOptions = (to: Command): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'as CSV, the records of one section').choices(CSV_SECTIONS))
    .option('--map <COLUMN=FIELD>', 'the field that a column of the CSV holds; may be repeated', collected)
    .option('--delimiter <CHARACTER>', 'what parts the cells of the CSV: "," unless given, ";", tab …', delimiter)
    .option('--raw', 'cells as they are, without a quote before what a spreadsheet takes for a formula');

const collected = (value: string, before: string[] = []): string[] => [...before, value];

function delimiter(value: string): string {
  if (value === 'tab' || value === '\\t') return '\t';
  if ([...value].length === 1 && !/["\r\n]/.test(value)) return value;
  throw new UsageError('--delimiter must be one character, or tab');
}

/** @throws UsageError when options are given that say nothing without --csv */
export function csvFormOf({ csv, map = [], delimiter: given, raw = false }: CsvOptions): CsvForm | undefined {
  if (csv) return { section: csv, delimiter: given ?? ',', mappings: mappingsOf(csv, map), raw };
  const without = [map.length > 0 && '--map', given && '--delimiter', raw && '--raw'].find(Boolean);
  if (without) throw new UsageError(`${without} is about CSV: --csv SECTION must be given`);
  return undefined;
}

/** characters */
const HELP_WIDTH = 112;

/** The fields of each section, as a help text. */
export const fieldsText = (): string =>
  CSV_SECTIONS.map((section) => `  ${section}: ${CSV_FIELDS[section].map(({ name }) => name).join(', ')}`)
    .map((text) => new Help().boxWrap(text, HELP_WIDTH).replaceAll('\n', '\n    '))
    .join('\n');
