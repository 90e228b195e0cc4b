import { Command, Help, Option } from 'commander';
import { encodingExists } from 'iconv-lite';
import { MAX_INT32 } from '../fields/schemas';
import type { ColumnMapping, CsvFormat, OptionValue } from '../exchange/csv/csv-options';
import { type CsvSection, type CsvService, fieldNamed } from '../exchange/csv/csv.service';
import { quote } from '../exchange/datasets/quote';
import { collect, parseChoice, parseInteger, parser, parseText } from './arguments';
import { UsageError } from './terminal/terminal';

/** Options of the commands that read or write CSV. */
export interface CsvOptions extends Omit<CsvFormat, 'section' | 'mappings' | 'optionValues'> {
  csv?: string;
  map?: string[];
  errors?: string;
  event?: string;
  registered?: true;
  checkedIn?: true;
}

/** Options of the command that reads CSV. */
export function withCsvImportOptions(to: Command): Command {
  return to
    .option('--skip-lines <N>', 'number of lines to skip before the header', parseInteger('--skip-lines', MAX_INT32))
    .option('--skip-rows <LINES>', 'rows to skip, by their lines, such as 7,11-15', parseLines)
    .option('--only <COLUMN=VALUE>', 'import only rows with this value in a column (repeatable)', parseOnly)
    .option('--ignore-unknown', 'skip columns that are not fields')
    .option('--lenient', 'import what can be read, and list the rest in a file')
    .option('--errors <FILE>', 'the file in which --lenient lists the rest (default: FILE.errors.csv)')
    .option(
      '--time-zone <ZONE>',
      'time zone of date-times without one, such as Europe/Berlin (default: UTC)',
      parseTimeZone,
    )
    .option(
      '--date-format <FORMAT>',
      'order of day and month in dates such as 5/4/2026: DMY or MDY',
      parseChoice('--date-format', ['DMY', 'MDY']),
    )
    .option('--event <EVENT>', 'add every lead to this event, given by its ref, ID or name')
    .option('--registered', 'every lead is registered for its events')
    .option('--checked-in', 'every lead has checked in at its events')
    .option('--create-tags <GROUP>', 'create missing tag options in this tag group', parseText('--create-tags'))
    .option('--match <KEY>', 'how rows are matched to existing leads: id (default), email or remoteId')
    .option(
      '--repeated <WHICH>',
      'which row of one key to keep: first or last; or merge, which joins them',
      parseChoice('--repeated', ['first', 'last', 'merge']),
    )
    .option('--source <NAME>', 'program or list that the IDs of the file are from', parseText('--source'))
    .option('--overwrite', 'let a row change the person of a lead that has its ID');
}

function parseTimeZone(value: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    throw new UsageError('--time-zone must be the name of a time zone, such as Europe/Berlin');
  }
}

/** Lines and ranges of lines, such as `7,11-15`, in addition to those of the same option before. */
function parseLines(value: string, before: [number, number][] = []): [number, number][] {
  const lines = value.split(',').map((part): [number, number] => {
    const [, first, last = first] = /^ *(\d{1,9})(?:-(\d{1,9}))? *$/.exec(part) ?? [];
    if (first && Number(last) >= Number(first)) return [Number(first), Number(last)];
    throw new UsageError('--skip-rows must be lines and ranges of lines, such as 7,11-15');
  });
  return [...before, ...lines];
}

const parseOnly = collect(
  parser('--only must be COLUMN=VALUE, as in --only "Status=Approved"', (text) => {
    const [, column = '', value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    return column.trim() === '' ? undefined : { column, value };
  }),
);

export const parseEncoding = parser(
  '--encoding must be the name of an encoding, such as windows-1252, iso-8859-2 or shift_jis',
  (value) => (encodingExists(value) ? value : undefined),
);

export const withCsvOptions = (to: Command, service: CsvService): Command =>
  to
    .addOption(new Option('--csv <SECTION>', 'use CSV for the records of one section').choices(service.sections))
    .option('--map <COLUMN=FIELD>', 'assign a CSV column to a field (repeatable)', collect(String))
    .option('--delimiter <CHARACTER>', 'character between cells, such as ";" or tab', parseDelimiter)
    .option('--raw', 'keep cells that look like a formula as they are: no apostrophe is added or removed');

const parseDelimiter = parser('--delimiter must be one character, or tab', (value) => {
  if (value === 'tab' || value === '\\t') return '\t';
  return value.length === 1 && !/["\r\n]/.test(value) ? value : undefined;
});

/** @throws UsageError when an entry is not COLUMN=FIELD, or names no field of the section */
function parseMappings(section: CsvSection, name: string, entries: string[]): ColumnMapping[] {
  return entries.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, fieldName] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = fieldNamed(section, fieldName);
    if (field || fieldName === '') return { column, field };
    throw new UsageError(
      `--map ${quote(entry)}: ${name} have no field called ${fieldName}. "import --help" lists the fields.`,
    );
  });
}

/** @throws UsageError when a column of an export has no field, or one that can only be imported */
export function requireExported({ mappings }: CsvFormat): void {
  const mapping = mappings.find(({ field }) => !field?.format);
  if (mapping) throw new UsageError(`--map ${quote(mapping.column)}: This column needs a field that can be exported.`);
}

/** @throws UsageError when options of CSV are given without --csv, or do not fit the section */
export function csvFormatOf(service: CsvService, options: CsvOptions): CsvFormat | undefined {
  const { csv: section, match } = options;
  if (!section) {
    requireNoCsvOptions(service, options);
    return undefined;
  }
  const keys = ['id', ...Object.keys(service.section(section).definition.matches ?? {})];
  if (match !== undefined && !keys.includes(match)) {
    throw new UsageError(`--match must be one of ${keys.join(', ')} for ${section}`);
  }
  if (options.errors !== undefined && !options.lenient) throw new UsageError('--errors needs --lenient');
  return {
    ...options,
    section,
    mappings: parseMappings(service.section(section), section, options.map ?? []),
    optionValues: optionValuesOf(service.section(section), section, options),
  };
}

/**
 * The values that options give to fields of every row.
 * @throws UsageError when the section has no field for an option
 */
function optionValuesOf(
  section: CsvSection,
  name: string,
  { event, registered, checkedIn }: CsvOptions,
): OptionValue[] {
  const options = [
    { option: '--event', fieldName: 'events', value: event },
    { option: '--registered', fieldName: 'registered', value: registered && 'yes' },
    { option: '--checked-in', fieldName: 'checkedIn', value: checkedIn && 'yes' },
  ];
  return options.flatMap(({ option, fieldName, value }) => {
    if (value === undefined) return [];
    const field = fieldNamed(section, fieldName);
    if (!field) throw new UsageError(`${option} cannot be used for ${name}`);
    return { option, field, value };
  });
}

function requireNoCsvOptions(service: CsvService, options: CsvOptions): void {
  const known = withCsvImportOptions(withCsvOptions(new Command(), service)).options;
  const used = known.find((option) => options[option.attributeName() as keyof CsvOptions] !== undefined);
  if (used) throw new UsageError(`${used.long} needs --csv`);
}

/** The fields of each section, as a help text for a terminal of 80 columns. */
export function fieldsText(service: CsvService): string {
  const lines = service.sections.map((section) => {
    const names = service.fields(section).map(({ name }) => name);
    return `  ${section}:\n${new Help().boxWrap(names.join(', '), 75)}`;
  });
  return lines.join('\n').replaceAll(/^(?! )/gm, '    ');
}
