import { contactsFirst, otherNumberReason } from '../csv/csv-columns';
import type { CsvColumn } from '../csv/csv-options';
import { columnsWithoutEffect, type CsvPlan } from '../csv/csv-plan';
import type { ColumnStates } from '../csv/row-states';
import { databaseErrorMessage } from '../database/errors';
import type { Counts, Datasets } from '../datasets/dataset';
import { LEGACY_ENCODING } from '../datasets/open';
import { ImportError, type ImportIssue, NO_LOCATION } from '../datasets/import-error';
import type { ImportPlan } from '../datasets/import-plan';
import type { ImportResult } from '../datasets/import.service';
import type { Repetitions } from '../datasets/stage';
import { escapeInvisible, quote, quoteShortened } from '../datasets/quote';
import type { BeforeFile } from './before-file';
import type { LeftOutList } from './left-out-list';
import { formatCount, formatNumber, formatTable } from './terminal/table';

/** Describes the result, such as `50 leads: 38 created, 10 updated, 2 unchanged; 1 event: …`. */
export function outcomesText(datasets: Datasets, imported: Counts, outcomes: ImportResult['outcomes']): string {
  const parts = Object.entries(outcomes).map(([section, { created, updated, unchanged }]) => {
    const count = imported[section] ?? 0;
    const what = `${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`;
    return `${formatCount(count, datasets.of(section).noun)}: ${what}`;
  });
  return parts.join('; ') || 'nothing';
}

const isCsv = (plan: ImportPlan): plan is CsvPlan => 'survey' in plan;

/** The names of the file's own columns, if it has any. */
export const ownColumnNames = (plan: ImportPlan): readonly string[] => (isCsv(plan) ? plan.ownColumnNames : []);

/** What a person and a program read about an import that has succeeded. */
export class ImportReport {
  private readonly plan: CsvPlan | undefined;
  private readonly outcomes: ImportResult['outcomes'];

  /**
   * @param section that is reported even if it has no records
   * @param leftOut undefined if nothing may be left out
   * @param before the file of the changed records, if they are kept
   */
  constructor(
    private readonly datasets: Datasets,
    private readonly result: ImportResult,
    section: string | undefined,
    private readonly isDryRun: boolean,
    private readonly leftOut?: LeftOutList,
    private readonly before?: BeforeFile,
  ) {
    const { plan, outcomes } = result;
    this.plan = isCsv(plan) ? plan : undefined;
    this.outcomes = section ? { [section]: { created: 0, updated: 0, unchanged: 0 }, ...outcomes } : outcomes;
  }

  /** The result in one sentence, or two. */
  get text(): string {
    const what = outcomesText(this.datasets, this.result.imported, this.outcomes);
    return `${this.isDryRun ? 'Would import' : 'Imported'} ${what}.${this.leftOut ? leftOutText(this.leftOut) : ''}`;
  }

  get lines(): string[] {
    const { plan, leftOut, before } = this;
    const { importId } = this.result;
    return applicableLines([
      this.text,
      ...(plan ? readingNotes(plan, this.result) : []),
      ...(plan && leftOut ? leftOutLines(leftOut, plan) : []),
      importId !== undefined && `Import ID: ${importId}`,
      before &&
        before.count > 0 &&
        `Saved ${formatCount(before.count, 'record')} as before the import to ${before.path}.`,
    ]);
  }

  /** The ids of each section that reports them are a property with its name. */
  get json(): object {
    const { importId, imported, ids, repeatedRows, preview } = this.result;
    const { plan, outcomes, before, leftOut, isDryRun } = this;
    return {
      importId,
      imported,
      outcomes,
      ...ids,
      ...(repeatedRows > 0 && { repeatedRows }),
      ...(plan && csvJson(plan, this.result)),
      ...(before && { before: before.count > 0 ? before.path : null }),
      ...(leftOut && leftOutJson(leftOut)),
      ...(isDryRun && { dryRun: true }),
      ...(isDryRun && plan && { ...planJson(plan), first: preview.map((record) => JSON.parse(record) as unknown) }),
    };
  }

  /**
   * How a dry run has read the file.
   * @param keepsBefore whether the option is given that keeps the changed records
   */
  dryRunText(keepsBefore: boolean): string {
    const updated = Object.values(this.outcomes).reduce((sum, each) => sum + each.updated, 0);
    const changes = `This would change ${formatCount(updated, 'record')}. To be able to bring that back, add --before FILE.`;
    return applicableLines([
      ...(this.plan ? this.readingLines(this.plan) : []),
      updated > 0 && !keepsBefore && changes,
      'This was a dry run: nothing was stored.\n',
    ]).join('\n');
  }

  /** What the file is, what its columns fill, and its first records. */
  private readingLines(plan: CsvPlan): string[] {
    const columns = plan.columns.map(({ name, field, use }) => [
      escapeInvisible(name),
      field?.name ?? `(${use ?? 'skipped'})`,
    ]);
    return [formatText(plan), formatTable(['column', 'field'], columns), ...this.result.preview.map(escapeInvisible)];
  }
}

/** The lines that apply. */
const applicableLines = (lines: (string | false | undefined)[]): string[] =>
  lines.filter((line) => typeof line === 'string');

function planJson({ columns, survey, dateFormats }: CsvPlan): object {
  const { delimiter, delimiterSource = 'header', line } = survey.header;
  const described = columns.map(({ name, field }) => ({ column: name, field: field?.name ?? null }));
  return { format: { delimiter, delimiterSource, headerLine: line, dateFormats }, columns: described };
}

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/** What a file is: its delimiter and what names it, its header, and the orders of day and month. */
function formatText({ survey, format, dateFormats }: CsvPlan): string {
  const { delimiter, delimiterSource, line } = survey.header;
  const source = delimiterSource === undefined ? 'as in the header' : `as ${delimiterSource} says`;
  const name = DELIMITER_NAMES[delimiter] ?? quote(delimiter);
  const reason = format.dateTimes.dateFormat ? 'as --date-format says' : 'as its values prove';
  const dates = Object.entries(dateFormats).map(
    ([column, order]) => `Dates in column ${quote(column)} are read as ${order}, ${reason}.`,
  );
  return [`Cells are separated by ${name}, ${source}. The header is on line ${line}.`, ...dates].join('\n');
}

/** The errors of the file, or the one with which the database ended the import. Undefined for any other error. */
export function errorsJson(error: unknown): object | undefined {
  if (error instanceof ImportError) return { errors: error.issues.map(issueJson), more: error.moreCount };
  const expected = databaseErrorMessage(error);
  return expected === undefined ? undefined : { errors: [{ ...NO_LOCATION, expected }], more: 0 };
}

const issueJson = ({ line, column, path, value = null, expected }: ImportIssue): ImportIssue => ({
  line,
  column,
  path,
  value,
  expected,
});

/** What a lenient import has left out, in a sentence that follows the outcome. */
function leftOutText({ rows, values, path }: LeftOutList): string {
  if (rows + values === 0) return '';
  const what = [];
  if (rows > 0) what.push(formatCount(rows, 'row'));
  if (values > 0) what.push(formatCount(values, 'value'));
  return ` Skipped ${what.join(' and ')}${path === undefined ? '' : `: see ${path}`}.`;
}

const leftOutJson = ({ rows, values, columns, path }: LeftOutList): object => ({
  skipped: { rows, values, columns: [...columns.values()] },
  errorsFile: path ?? null,
});

/** A line for each column of which something was left out, and for each row that was skipped. */
function leftOutLines({ columns, skippedRows, rows }: LeftOutList, plan: CsvPlan): string[] {
  const { facts } = plan.survey;
  const contacts = plan.columns.filter(({ index, skipReason }) => skipReason && facts.get(index)?.hasContact);
  const isContact = (name: string): boolean => contacts.some((column) => column.name === name);
  const all = [...columns.values()].sort(
    (one, other) => Number(isContact(other.column)) - Number(isContact(one.column)),
  );
  const ofColumns = all.map(
    ({ column, count, example, reason }) =>
      `column ${quote(column)}: ${formatCount(count, 'value')}, such as ${quoteShortened(example)}. ${reason}`,
  );
  const ofRows = skippedRows.map(({ line, reason }) => `${line === null ? '' : `line ${line}: `}${reason}`);
  if (rows > skippedRows.length) ofRows.push(`and ${formatCount(rows - skippedRows.length, 'more row')}`);
  return [...ofColumns, ...ofRows];
}

/** What the operator should know of how a file was read. */
export function readingNotes(plan: CsvPlan, { repeatedRows, samePersonRows }: Repetitions): string[] {
  const { survey, columns, isLenient, onDuplicate, repeatedHours } = plan;
  const { firstLine = 0, lastLine = 0 } = survey.header.preamble ?? {};
  const preamble = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
  const unused = unusedColumns(plan);
  const resolution =
    onDuplicate === 'merge' ? 'joined with the first row of the same key' : 'not kept, as another row has the same key';
  const addresses = samePersonRows === 1 ? 'has the address of an earlier row' : 'have the addresses of earlier rows';
  const { count, first } = repeatedHours;
  return applicableLines([
    firstLine > 0 && `Skipped ${preamble} before the header.`,
    isLenient &&
      survey.encodingProblem &&
      `Line ${survey.encodingProblem.line} is not valid UTF-8: its bytes were read as ${LEGACY_ENCODING}.`,
    ...(isLenient ? [] : skippedColumnNotes(columns)),
    survey.endLine !== undefined &&
      `Another table begins on line ${survey.endLine}: it and all that follows was left out.`,
    unused.length > 0 && `Columns that were not used: ${unused.map(quote).join(', ')}.`,
    ...plan.states.map((states) => stateNote(states, plan)),
    ...columnsWithoutEffect(plan).map(({ name }) => `Column ${quote(name)} has no effect without --event.`),
    first &&
      `${formatCount(count, 'time')} in an hour that occurs twice in ${first.timeZone}, such as ${quoteShortened(first.value)}: the first one was taken, UTC${first.offset}. Add the offset to a time that is the second one.`,
    repeatedRows > 0 && `${formatCount(repeatedRows, 'row')}: ${resolution}.`,
    samePersonRows > 0 &&
      `${formatCount(samePersonRows, 'row')} ${addresses}. To join the rows of a person, use --match ${plan.personMatch} --repeated merge.`,
  ]);
}

function skippedColumnNotes(columns: readonly CsvColumn[]): string[] {
  return columns.flatMap(({ name, skipReason, type }) => {
    const kinds = [...(type?.fields ?? [])].flatMap(([kind, field]) => (field === null ? [kind] : []));
    const left = kinds.map((kind) => `Left out of column ${quote(name)}: ${otherNumberReason(kind)}`);
    return skipReason === undefined ? left : [`Skipped column ${quote(name)}: ${skipReason}`];
  });
}

/** The columns that are not used and that nothing else names, those first that could reach somebody. */
function unusedColumns({ columns, survey: { facts }, isLenient }: CsvPlan): string[] {
  const isNamed = ({ skipReason, index }: CsvColumn): boolean =>
    skipReason !== undefined && (!isLenient || facts.has(index));
  const unused = columns.filter((column) => (column.isUnknown || column.skipReason) && !isNamed(column));
  return contactsFirst(unused, facts).map(({ name }) => name);
}

/** How many rows there are of each state, and how to leave out those who do not come. */
function stateNote({ column, counts, outCount, isOut }: ColumnStates, { format: { only } }: CsvPlan): string {
  const note = `Column ${quote(column)}: ${[...counts].map(([state, count]) => `${quoteShortened(state)} ${formatNumber(count)}`).join(', ')}.`;
  if (outCount === 0 || only.length > 0) return note;
  const options = [...counts.keys()]
    .filter((state) => !isOut(state))
    .map((state) => `--only ${quote(`${column}=${state}`)}`);
  const [verb, count] = outCount === 1 ? ['is', 'counts'] : ['are', 'count'];
  const advice = options.length > 0 ? ` To leave them out, use ${options.join(' ')}.` : '';
  return `${note} ${formatCount(outCount, 'row')} ${verb} declined, canceled, void or waitlisted, and ${count} like the others.${advice}`;
}

/** What the JSON result has of the reading of a file. */
function csvJson(plan: CsvPlan, repetitions: Repetitions): object {
  const { states, repeatedHours } = plan;
  const { count, first } = repeatedHours;
  return {
    ...(first && { repeatedHours: { count, ...first } }),
    notes: readingNotes(plan, repetitions),
    ...(states.length > 0 && {
      states: Object.fromEntries(states.map(({ column, counts }) => [column, Object.fromEntries(counts)])),
    }),
  };
}

/**
 * What to do about errors of a CSV file.
 * @param command as it was called
 */
export function adviceLines({ advice }: ImportError, command: string): string[] {
  const { options, skippableLines, isComplete } = advice;
  const isDateFormat = (option: string): boolean => option.startsWith('--date-format ');
  const dateFormat = [...options].find(isDateFormat);
  const all = [...options].filter((option) => !isDateFormat(option));
  if (skippableLines.length > 0) all.push(`--skip-rows ${lineRanges(skippableLines)}`);
  const lines: string[] = [];
  const proposeCommand = (introduction: string, moreOptions: string[] = []): void =>
    void lines.push(`${introduction}: ${[command, ...all, ...moreOptions].join(' ')}`);
  const introduction = isComplete ? 'Try' : 'Correct the file, and try';
  if (dateFormat) {
    // Nothing in the file proves the order of day and month, so the operator chooses between two commands.
    const [other, first] = dateFormat.endsWith('DMY') ? ['MDY', 'month'] : ['DMY', 'day'];
    proposeCommand(introduction, [dateFormat]);
    proposeCommand(`Or, if the ${first} comes first in its dates`, [`--date-format ${other}`]);
  } else if (all.length > 0) {
    proposeCommand(introduction);
  }
  lines.push('To import what can be read, and have the rest listed in a file, add --lenient.');
  return lines;
}

/** Lines as `--skip-rows` takes them: `7,11-15`. */
function lineRanges(lines: number[]): string {
  const ranges: [number, number][] = [];
  for (const line of [...new Set(lines)].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last && last[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}
