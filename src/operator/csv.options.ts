import { Command, Option } from 'commander';
import { encodingExists } from 'iconv-lite';
import { MAX_INT32 } from '../api/schemas';
import type { CsvForm, Mapping } from '../csv/csv-columns';
import type { CsvService } from '../csv/csv.service';
import type { DateFormat } from '../csv/date-times';
import { quoted } from '../datasets/quoted';
import { wholeNumber } from './arguments';
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
    .option('--skip-lines <N>', 'lines before the names of the columns', wholeNumber('--skip-lines', MAX_INT32))
    .option('--ignore-unknown', 'leave out columns that are no fields')
    .option('--time-zone <ZONE>', 'of date-times without one, such as Europe/Berlin; else UTC', timeZone)
    .addOption(new Option('--date-format <FORMAT>', 'of days such as 5/4/2026 or 5.4.2026').choices(['DMY', 'MDY']))
    .option('--event <EVENT>', 'put every lead into this event: its ref, id or name')
    .addOption(
      new Option('--match <KEY>', 'by what a row is a stored lead; else id').choices(['id', ...matchesOf(service)]),
    )
    .addOption(
      new Option('--repeated <WHICH>', 'of rows with one key, the one that counts').choices(['first', 'last']),
    );

const matchesOf = (service: CsvService): string[] => [
  ...new Set(service.sections.flatMap((section) => Object.keys(service.dataset(section).matches ?? {}))),
];

function timeZone(value: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    throw new UsageError('--time-zone must be the name of a zone, such as Europe/Berlin');
  }
}

export function encoding(value: string): string {
  if (encodingExists(value)) return value;
  throw new UsageError('--encoding must be the name of an encoding, such as windows-1252, iso-8859-2 or shift_jis');
}

export const withCsvOptions = (to: Command, service: CsvService): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'as CSV, the records of one section').choices(service.sections))
    .option('--map <COLUMN=FIELD>', 'the field of a CSV column; may be repeated', collected)
    .option('--delimiter <CHARACTER>', 'between the cells of the CSV: ",", ";", tab …', delimiter)
    .option('--raw', 'CSV cells as they are, without a quote before formulas');

const collected = (value: string, before: string[] = []): string[] => [...before, value];

function delimiter(value: string): string {
  if (value === 'tab' || value === '\\t') return '\t';
  if ([...value].length === 1 && !/["\r\n]/.test(value)) return value;
  throw new UsageError('--delimiter must be one character, or tab');
}

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
function mappingsOf(service: CsvService, section: string, entries: string[]): Mapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, name] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = service.fieldNamed(section, name);
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
export function csvFormOf(
  service: CsvService,
  { csv, map = [], delimiter: given, raw = false, ...options }: CsvOptions,
): CsvForm | undefined {
  const { skipLines, ignoreUnknown, timeZone, dateFormat, event, match, repeated } = options;
  if (csv) {
    const { matches = {}, events } = service.dataset(csv);
    if (event !== undefined && !events) throw new UsageError(`--event is for leads, not for ${csv}`);
    if (match && match !== 'id' && !matches[match]) throw new UsageError(`--match ${match} is not for ${csv}`);
    return {
      ...{ section: csv, delimiter: given, mappings: mappingsOf(service, csv, map), raw, skipLines: skipLines ?? 0 },
      ...{ ignoreUnknown: ignoreUnknown ?? false, clock: { timeZone, dateFormat }, event, repeated },
      match: match === 'id' ? undefined : match,
    };
  }
  const all = { map: map[0], delimiter: given, raw: raw || undefined, ...options };
  const without = Object.entries(all).find(([name, value]) => CSV_ONLY.includes(name) && value !== undefined);
  if (without) throw new UsageError(`${flagOf(without[0])} needs --csv`);
  return undefined;
}

const CSV_ONLY = [
  ...['map', 'delimiter', 'raw', 'skipLines', 'ignoreUnknown', 'timeZone', 'dateFormat', 'event', 'match', 'repeated'],
];

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The fields of each section, as a help text. */
export const fieldsText = (service: CsvService): string =>
  service.sections
    .map((section) => {
      const names = service.fields(section).map(({ name }) => name);
      return `  ${section}:\n    ${wrapped(names, '    ')}`;
    })
    .join('\n');

/** Characters of a line of names. */
const MAX_LINE = 70;

/** Names, separated by commas, in lines that fit a terminal of 80 columns after an indentation of at most ten. */
export function wrapped(names: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const name of names) {
    const longer = `${lines.at(-1)}, ${name}`;
    if (lines.length > 0 && longer.length < MAX_LINE) lines[lines.length - 1] = longer;
    else lines.push(name);
  }
  return lines.join(`,\n${indent}`);
}
