import { Command, Option } from 'commander';
import { encodingExists } from 'iconv-lite';
import { MAX_INT32 } from '../api/schemas';
import type { ColumnMapping, CsvFormat, OptionValue } from '../csv/csv-columns';
import type { CsvService } from '../csv/csv.service';
import type { DateFormat } from '../csv/date-times';
import { quote } from '../datasets/quote';
import { parseInteger } from './arguments';
import { UsageError } from './terminal/terminal';

/** Options of the commands that read or write CSV. */
export interface CsvOptions {
  csv?: string;
  map?: string[];
  delimiter?: string;
  raw?: boolean;
  skipLines?: number;
  ignoreUnknown?: boolean;
  timeZone?: string;
  dateFormat?: DateFormat;
  event?: string;
  match?: string;
  repeated?: 'first' | 'last';
}

/** Options of the command that reads CSV. */
export const withCsvImportOptions = (to: Command, service: CsvService): Command =>
  to
    .option('--skip-lines <N>', 'number of lines to skip before the header', parseInteger('--skip-lines', MAX_INT32))
    .option('--ignore-unknown', 'skip columns that are not fields')
    .option(
      '--time-zone <ZONE>',
      'time zone of date-times without one, such as Europe/Berlin (default: UTC)',
      parseTimeZone,
    )
    .addOption(
      new Option('--date-format <FORMAT>', 'order of day and month in dates such as 5/4/2026').choices(['DMY', 'MDY']),
    )
    .option('--event <EVENT>', 'add every lead to this event, given by its ref, ID or name')
    .addOption(
      new Option('--match <KEY>', 'how rows are matched to existing leads (default: id)').choices([
        'id',
        ...matchKeys(service),
      ]),
    )
    .addOption(
      new Option('--repeated <WHICH>', 'which row to keep when a key occurs more than once').choices(['first', 'last']),
    );

const matchKeys = (service: CsvService): string[] => [
  ...new Set(service.sections.flatMap((section) => Object.keys(service.definition(section).matches ?? {}))),
];

function parseTimeZone(value: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    throw new UsageError('--time-zone must be the name of a time zone, such as Europe/Berlin');
  }
}

export function parseEncoding(value: string): string {
  if (encodingExists(value)) return value;
  throw new UsageError('--encoding must be the name of an encoding, such as windows-1252, iso-8859-2 or shift_jis');
}

export const withCsvOptions = (to: Command, service: CsvService): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'use CSV for the records of one section').choices(service.sections))
    .option('--map <COLUMN=FIELD>', 'assign a CSV column to a field (repeatable)', appendValue)
    .option('--delimiter <CHARACTER>', 'character between cells, such as ";" or tab', parseDelimiter)
    .option('--raw', 'keep cells that look like a formula as they are: no apostrophe is added or removed');

const appendValue = (value: string, before: string[] = []): string[] => [...before, value];

function parseDelimiter(value: string): string {
  if (value === 'tab' || value === '\\t') return '\t';
  if ([...value].length === 1 && !/["\r\n]/.test(value)) return value;
  throw new UsageError('--delimiter must be one character, or tab');
}

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
function parseMappings(service: CsvService, section: string, entries: string[]): ColumnMapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, name] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = service.fieldNamed(section, name);
    if (field || name === '') return { column, field };
    throw new UsageError(
      `--map ${quote(entry)}: ${section} have no field called ${name}. "import --help" lists the fields.`,
    );
  });
}

/** @throws UsageError when a column of an export has no field, or one that can only be imported */
export function requireExported({ mappings }: CsvFormat): void {
  const mapping = mappings.find(({ field }) => !field?.format);
  if (!mapping) return;
  const { column, field } = mapping;
  const reason = field ? `${field.name} cannot be exported.` : 'An export needs a field for each column.';
  throw new UsageError(`--map ${quote(`${column}=${field?.name ?? ''}`)}: ${reason}`);
}

const ON_DUPLICATE = { first: 'keepFirst', last: 'keepLast' } as const;

/** @throws UsageError when options of CSV are given without --csv */
export function csvFormatOf(
  service: CsvService,
  { csv, map = [], delimiter: character, raw = false, ...options }: CsvOptions,
): CsvFormat | undefined {
  const { skipLines = 0, ignoreUnknown = false, timeZone, dateFormat, event, match, repeated } = options;
  if (csv) {
    if (match && match !== 'id' && !service.definition(csv).matches?.[match]) {
      throw new UsageError(`--match ${match} cannot be used for ${csv}`);
    }
    return {
      section: csv,
      delimiter: character,
      mappings: parseMappings(service, csv, map),
      raw,
      skipLines,
      ignoreUnknown,
      dateTimes: { timeZone, dateFormat },
      optionValues: event === undefined ? [] : [optionValueOf(service, csv, 'event', event)],
      match: match === 'id' ? undefined : match,
      onDuplicate: repeated && ON_DUPLICATE[repeated],
    };
  }
  const all = { map: map[0], delimiter: character, raw: raw || undefined, ...options };
  const csvOnlyOption = Object.entries(all).find(
    ([name, value]) => CSV_ONLY_OPTIONS.includes(name) && value !== undefined,
  );
  if (csvOnlyOption) throw new UsageError(`${flagName(csvOnlyOption[0])} needs --csv`);
  return undefined;
}

/** @throws UsageError when the section has no field for the option */
function optionValueOf(service: CsvService, section: string, option: string, value: string): OptionValue {
  const name = service.definition(section).optionFields?.[option];
  const field = name === undefined ? undefined : service.fieldNamed(section, name);
  if (!field) throw new UsageError(`--${option} cannot be used for ${section}`);
  return { option, field, value };
}

const CSV_ONLY_OPTIONS = [
  'map',
  'delimiter',
  'raw',
  'skipLines',
  'ignoreUnknown',
  'timeZone',
  'dateFormat',
  'event',
  'match',
  'repeated',
];

const flagName = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The fields of each section, as a help text. */
export const fieldsText = (service: CsvService): string =>
  service.sections
    .map((section) => {
      const names = service.fields(section).map(({ name }) => name);
      return `  ${section}:\n    ${wrapNames(names, '    ')}`;
    })
    .join('\n');

/** Maximum number of characters in a line of names. */
const MAX_LINE = 70;

/** Names, separated by commas, in lines that fit a terminal of 80 columns after an indentation of at most ten. */
export function wrapNames(names: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const name of names) {
    const longer = `${lines.at(-1)}, ${name}`;
    if (lines.length > 0 && longer.length < MAX_LINE) lines[lines.length - 1] = longer;
    else lines.push(name);
  }
  return lines.join(`,\n${indent}`);
}
