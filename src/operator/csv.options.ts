import { Command, Help, Option } from 'commander';
import type { CsvExport } from '../exchange/csv/csv-export';
import { type CsvSection, type CsvService, fieldNamed } from '../exchange/csv/csv.service';
import type { CsvImport, OptionValue } from '../exchange/csv/plan';
import { quote } from '../exchange/datasets/quote';
import { collect, parseChoice, parser, parseText } from './arguments';
import { UsageError } from './terminal/terminal';

/** Options of the command that reads CSV. */
export interface CsvImportOptions extends Omit<CsvImport, 'mapping' | 'optionValues'> {
  csv?: string;
  mapping?: string;
  errors?: string;
  event?: string;
  registered?: true;
  checkedIn?: true;
}

/** Options of the command that writes CSV. */
export interface CsvExportOptions {
  csv?: string;
  map?: string[];
  delimiter?: string;
  raw?: boolean;
}

/** Options that the mapping has replaced, and its key for each. */
const REPLACED_OPTIONS: Record<string, string> = {
  '--map <COLUMN=FIELD>': '"columns"',
  '--delimiter <CHARACTER>': '"delimiter"',
  '--raw': '"raw"',
  '--skip-lines <N>': '"headerLine"',
  '--skip-rows <LINES>': '"skipLines"',
  '--only <COLUMN=VALUE>': '"only" of a column',
  '--ignore-unknown': '"otherColumns"',
  '--time-zone <ZONE>': '"timeZone"',
  '--date-format <FORMAT>': '"format" of a column',
  '--encoding <NAME>': '"encoding"',
};

const csvOption = ({ sections }: CsvService): Option =>
  new Option('--csv <SECTION>', 'use CSV for the records of one section').choices(sections);

function withCsvImportOptions(to: Command, service: CsvService): Command {
  return to
    .addOption(csvOption(service))
    .option('--mapping <FILE>', 'read CSV as this file says, which the first import of a file proposes')
    .option('--lenient', 'import what can be read, and list the rest in files')
    .option('--errors <FILE>', 'the file in which --lenient lists the rest (default: FILE.errors.csv)')
    .option('--event <EVENT>', 'add every lead to this event, given by its ref, ID or name')
    .option('--registered', 'every lead is registered for its events')
    .option('--checked-in', 'every lead has checked in at its events')
    .option('--create-tags <GROUP>', 'create missing tag options in this tag group', parseText('--create-tags'))
    .option('--match <KEY>', 'how rows are matched to existing leads: id (default), email or remoteId')
    .option('--update-only', 'update existing records, and create none')
    .option(
      '--repeated <WHICH>',
      'which row of one key to keep: first or last; or merge, which joins them',
      parseChoice('--repeated', ['first', 'last', 'merge']),
    )
    .option('--source <NAME>', 'program or list that the IDs of the file are from', parseText('--source'))
    .option('--overwrite', 'let a row change the person of a lead that has its ID');
}

/** Adds the options of an import. An option that the mapping has replaced says so. */
export function addCsvImportOptions(to: Command, service: CsvService): Command {
  withCsvImportOptions(to, service);
  for (const [flags, key] of Object.entries(REPLACED_OPTIONS)) {
    const option = new Option(flags).hideHelp();
    to.addOption(option).on(`option:${option.name()}`, () => {
      throw new UsageError(`${option.long} is not an option of import: use ${key} in the file of --mapping`);
    });
  }
  return to;
}

export const addCsvExportOptions = (to: Command, service: CsvService): Command =>
  to
    .addOption(csvOption(service))
    .option('--map <COLUMN=FIELD>', 'a column of the export and its field (repeatable)', collect(String))
    .option('--delimiter <CHARACTER>', 'character between cells, such as ";" or tab', parseDelimiter)
    .option('--raw', 'keep cells that look like a formula as they are: no apostrophe is added');

const parseDelimiter = parser('--delimiter must be one character, or tab', (value) => {
  if (value === 'tab' || value === '\\t') return '\t';
  return value.length === 1 && !/["\r\n]/.test(value) ? value : undefined;
});

/** @throws UsageError when an option needs --csv, or a column has no field that can be exported */
export function csvExportOf(service: CsvService, options: CsvExportOptions): CsvExport | undefined {
  const { csv: name, map = [], ...others } = options;
  if (name === undefined) {
    requireNoOptions(addCsvExportOptions(new Command(), service), options, '--csv');
    return undefined;
  }
  const section = service.section(name);
  const columns = map.map((entry) => {
    const equals = entry.lastIndexOf('=');
    const [column, fieldName] = [entry.slice(0, Math.max(0, equals)).trim(), entry.slice(equals + 1).trim()];
    if (column === '') throw new UsageError('--map must be COLUMN=FIELD, as in --map "E-mail=email"');
    const field = fieldNamed(section, fieldName);
    if (field?.format) return { column, field };
    throw new UsageError(
      `--map ${quote(entry)}: ${name} have no field called ${fieldName} that can be exported. "import --help" lists the fields.`,
    );
  });
  return { ...others, section: name, columns };
}

/**
 * What should happen with a file, but for its mapping.
 * @throws UsageError when options of CSV are given without --csv and --mapping, or do not fit the section
 */
export function csvImportOf(
  service: CsvService,
  name: string | undefined,
  options: CsvImportOptions,
): Omit<CsvImport, 'mapping'> | undefined {
  if (name === undefined) {
    requireNoOptions(withCsvImportOptions(new Command(), service), options, '--csv or --mapping');
    return undefined;
  }
  const section = service.section(name);
  const keys = ['id', ...Object.keys(section.definition.matches ?? {})];
  if (options.match !== undefined && !keys.includes(options.match)) {
    throw new UsageError(`--match must be one of ${keys.join(', ')} for ${name}`);
  }
  if (options.errors !== undefined && !options.lenient) throw new UsageError('--errors needs --lenient');
  return { ...options, optionValues: optionValuesOf(section, options) };
}

/**
 * The values that options give to fields of every row.
 * @throws UsageError when the section has no field for an option
 */
function optionValuesOf(section: CsvSection, { event, registered, checkedIn }: CsvImportOptions): OptionValue[] {
  const options = [
    { option: '--event', fieldName: 'events', value: event },
    { option: '--registered', fieldName: 'registered', value: registered && 'yes' },
    { option: '--checked-in', fieldName: 'checkedIn', value: checkedIn && 'yes' },
  ];
  return options.flatMap(({ option, fieldName, value }) => {
    if (value === undefined) return [];
    const field = fieldNamed(section, fieldName);
    if (!field) throw new UsageError(`${option} cannot be used for ${section.name}`);
    return { option, field, value };
  });
}

function requireNoOptions({ options: known }: Command, options: object, needed: string): void {
  const used = known.find((option) => (options as Record<string, unknown>)[option.attributeName()] !== undefined);
  if (used) throw new UsageError(`${used.long} needs ${needed}`);
}

/** The fields of each section, as a help text for a terminal of 80 columns. */
export function fieldsText(service: CsvService): string {
  const lines = service.sections.map((section) => {
    const names = service.fields(section).map(({ name }) => name);
    return `  ${section}:\n${new Help().boxWrap(names.join(', '), 75)}`;
  });
  return lines.join('\n').replaceAll(/^(?! )/gm, '    ');
}
