import { contactsFirst, otherNumberReason } from '../exchange/csv/csv-columns';
import type { CsvColumn } from '../exchange/csv/csv-options';
import type { CsvPlan } from '../exchange/csv/csv-plan';
import type { ColumnFacts } from '../exchange/csv/column-facts';
import type { DateFormat } from '../exchange/csv/date-times';
import { isState } from '../exchange/csv/column-names';
import { isOutState, statesOf } from '../exchange/csv/row-states';
import { databaseErrorMessage } from '../data/database/errors';
import type { Datasets } from '../exchange/datasets/dataset';
import { LEGACY_ENCODING } from '../exchange/datasets/open';
import { ImportError, NO_LOCATION } from '../exchange/datasets/import-error';
import type { ImportPlan } from '../exchange/datasets/import-plan';
import type { ImportResult } from '../exchange/datasets/import.service';
import type { Repetitions } from '../exchange/datasets/stage';
import { quote, quoteShortened } from '../exchange/datasets/quote';
import { escapeInvisible } from '../fields/invisible';
import type { BeforeFile } from './before-file';
import type { LeftOutList } from './left-out-list';
import { formatCount, formatNumber, formatTable } from './terminal/table';

/** What is known about an import that has succeeded. */
interface FinishedImport {
  datasets: Datasets;
  result: ImportResult;
  /** Undefined if nothing may be left out. */
  leftOut?: LeftOutList;
  /** The file of the changed records, if they are kept. A dry run changes none, so it has no such file. */
  before?: BeforeFile;
  /** Whether the option is given that keeps the changed records. */
  keepsBefore: boolean;
}

const csvPlanOf = (plan: ImportPlan): CsvPlan | undefined => ('survey' in plan ? (plan as CsvPlan) : undefined);

/** The names of the file's own columns, if it has any. */
export const columnNames = (plan: ImportPlan): readonly string[] => csvPlanOf(plan)?.survey.header.names ?? [];

/** What a person reads: the result in one sentence or two, how the file was read, and where to find the rest. */
export function reportText({ datasets, result, leftOut, before, keepsBefore }: FinishedImport): string {
  const { importId, outcomes } = result;
  const plan = csvPlanOf(result.plan);
  const isDryRun = importId === undefined;
  const updated = Object.values(outcomes).reduce((sum, each) => sum + each.updated, 0);
  const what = outcomesText(datasets, result);
  const changes = `This would change ${formatCount(updated, 'record')}. To be able to bring that back, add --before FILE.`;
  return applicableLines([
    `${isDryRun ? 'Would import' : 'Imported'} ${what}.${leftOut ? leftOutText(leftOut) : ''}`,
    ...(plan ? readingNotes(plan, result) : []),
    ...(plan && leftOut ? leftOutLines(leftOut, plan) : []),
    importId !== undefined && `Import ID: ${importId}`,
    before &&
      before.count > 0 &&
      `Saved ${formatCount(before.count, 'record')} as before the import to ${before.path}.`,
    ...(plan && isDryRun ? readingLines(plan, result) : []),
    isDryRun && updated > 0 && !keepsBefore && changes,
    isDryRun && 'This was a dry run: nothing was stored.',
  ]).join('\n');
}

/** What a program reads. The ids of each section that reports them are a property with its name. */
export function reportJson({ result, leftOut, before }: FinishedImport): object {
  const { importId, imported, outcomes, ids, repeatedRows } = result;
  const plan = csvPlanOf(result.plan);
  return {
    importId,
    imported,
    outcomes,
    ...ids,
    repeatedRows: repeatedRows || undefined,
    ...(plan && csvJson(plan, result)),
    before: before && (before.count > 0 ? before.path : null),
    ...(leftOut && {
      skipped: { rows: leftOut.rows, values: leftOut.values, columns: [...leftOut.columns.values()] },
      errorsFile: leftOut.path ?? null,
    }),
    dryRun: importId === undefined || undefined,
  };
}

/** Describes the result, such as `50 leads: 38 created, 10 updated, 2 unchanged; 1 event: …`. */
function outcomesText(datasets: Datasets, { imported, outcomes }: ImportResult): string {
  const parts = Object.entries(outcomes).map(([section, { created, updated, unchanged }]) => {
    const count = imported[section] ?? 0;
    const what = `${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`;
    return `${formatCount(count, datasets.of(section).noun)}: ${what}`;
  });
  return parts.join('; ') || 'nothing';
}

/** What a dry run shows of a file: what it is, what its columns fill, and its first records. */
function readingLines(plan: CsvPlan, { preview }: ImportResult): string[] {
  const columns = plan.columns.map(({ name, field, use }) => [
    escapeInvisible(name),
    field?.name ?? `(${use ?? 'skipped'})`,
  ]);
  return [formatText(plan), formatTable(['column', 'field'], columns), ...preview.map(escapeInvisible)];
}

/** What the JSON result has of the reading of a file, and more of it after a dry run. */
function csvJson(plan: CsvPlan, result: ImportResult): object {
  const { count, first } = plan.repeatedHours;
  const states = stateColumns(plan).map(([column, facts]) => [column, Object.fromEntries(statesOf(facts))]);
  const { delimiter, delimiterSource, line } = plan.survey.header;
  return {
    repeatedHours: first && { count, ...first },
    notes: readingNotes(plan, result),
    states: states.length > 0 ? (Object.fromEntries(states) as object) : undefined,
    ...(result.importId === undefined && {
      format: { delimiter, delimiterSource, headerLine: line, dateFormats: Object.fromEntries(dateFormatsOf(plan)) },
      columns: plan.columns.map(({ name, field }) => ({ column: name, field: field?.name ?? null })),
      first: result.preview.map((record) => JSON.parse(record) as unknown),
    }),
  };
}

/** The names of the columns with dates whose form does not tell the order of day and month, and their orders. */
const dateFormatsOf = ({ format, columns }: CsvPlan): [column: string, order: DateFormat][] =>
  columns.flatMap(({ name, field, facts }) => {
    const order = facts?.dateFormats && (format.dateFormat ?? facts.provenFormat);
    return field && order ? [[name, order]] : [];
  });

const DELIMITER_NAMES: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/** What a file is: its delimiter and what names it, its header, and the orders of day and month. */
function formatText(plan: CsvPlan): string {
  const { delimiter, delimiterSource, line } = plan.survey.header;
  const name = DELIMITER_NAMES[delimiter] ?? quote(delimiter);
  const source = delimiterSource === 'header' ? 'as in the header' : `as ${delimiterSource} says`;
  const reason = plan.format.dateFormat ? 'as --date-format says' : 'as its values prove';
  const dates = dateFormatsOf(plan).map(
    ([column, order]) => `Dates in column ${quote(column)} are read as ${order}, ${reason}.`,
  );
  return [`Cells are separated by ${name}, ${source}. The header is on line ${line}.`, ...dates].join('\n');
}

/** The lines that apply. */
const applicableLines = (lines: (string | false | undefined)[]): string[] =>
  lines.filter((line) => typeof line === 'string');

/** The errors of the file, or the one with which the database ended the import. Undefined for any other error. */
export function errorsJson(error: unknown): object | undefined {
  if (error instanceof ImportError) {
    const errors = error.issues.map(({ line, column, path, value = null, expected }) => {
      return { line, column, path, value, expected };
    });
    return { errors, more: error.moreCount };
  }
  const expected = databaseErrorMessage(error);
  return expected === undefined ? undefined : { errors: [{ ...NO_LOCATION, expected }], more: 0 };
}

/** What a lenient import has left out, in a sentence that follows the outcome. */
function leftOutText({ rows, values, path }: LeftOutList): string {
  const what = applicableLines([rows > 0 && formatCount(rows, 'row'), values > 0 && formatCount(values, 'value')]);
  if (what.length === 0) return '';
  return ` Skipped ${what.join(' and ')}${path === undefined ? '' : `: see ${path}`}.`;
}

/** A line for each column of which something was left out. */
function leftOutLines({ columns }: LeftOutList, plan: CsvPlan): string[] {
  const names = new Set(contactsFirst(plan.columns).map(({ name }) => name));
  const inOrder = [...names].flatMap((name) => columns.get(name) ?? []);
  return inOrder.map(
    ({ column, count, example, reason }) =>
      `column ${quote(column)}: ${formatCount(count, 'value')}, such as ${quoteShortened(example)}. ${reason}`,
  );
}

/** What the operator should know of how a file was read. */
export function readingNotes(plan: CsvPlan, { repeatedRows, samePersonRows }: Repetitions): string[] {
  const { survey, columns, isLenient, onDuplicate, repeatedHours } = plan;
  const { line, firstLine = line } = survey.header;
  const preamble = firstLine === line - 1 ? `line ${firstLine}` : `lines ${firstLine} to ${line - 1}`;
  const unused = unusedColumns(plan);
  const resolution =
    onDuplicate === 'merge' ? 'joined with the first row of the same key' : 'not kept, as another row has the same key';
  const addresses = samePersonRows === 1 ? 'has the address of an earlier row' : 'have the addresses of earlier rows';
  const { count, first } = repeatedHours;
  return applicableLines([
    firstLine < line && `Skipped ${preamble} before the header.`,
    isLenient &&
      survey.encodingProblem &&
      `Line ${survey.encodingProblem.line} is not valid UTF-8: its bytes were read as ${LEGACY_ENCODING}.`,
    ...(isLenient ? [] : skippedColumnNotes(columns)),
    survey.endLine !== undefined &&
      `Another table begins on line ${survey.endLine}: it and all that follows was left out.`,
    unused.length > 0 && `Columns that were not used: ${unused.map(quote).join(', ')}.`,
    ...stateNotes(plan),
    first &&
      `${formatCount(count, 'time')} in an hour that occurs twice in ${first.timeZone}, such as ${quoteShortened(first.value)}: the first one was taken, UTC${first.offset}. Add the offset to a time that is the second one.`,
    repeatedRows > 0 && `${formatCount(repeatedRows, 'row')}: ${resolution}.`,
    samePersonRows > 0 &&
      `${formatCount(samePersonRows, 'row')} ${addresses}. To join the rows of a person, use --match ${plan.section.definition.personMatch} --repeated merge.`,
  ]);
}

function skippedColumnNotes(columns: readonly CsvColumn[]): string[] {
  return columns.flatMap(({ name, skipReason, type }) => {
    if (skipReason !== undefined) return `Skipped column ${quote(name)}: ${skipReason}`;
    const leftOut = [...(type?.fields ?? [])].filter(([, field]) => field === null);
    return leftOut.map(([kind]) => `Left out of column ${quote(name)}: ${otherNumberReason(kind)}`);
  });
}

/** The columns that are not used and that nothing else names, those first that could reach somebody. */
function unusedColumns({ columns, isLenient, providesField }: CsvPlan): string[] {
  const isUnused = ({ facts, field, isUnknown, skipReason }: CsvColumn): boolean => {
    if (skipReason !== undefined) return isLenient && !facts;
    // Flags of a list have no effect if nothing fills it.
    return isUnknown ?? (field?.entryFields !== undefined && !Object.keys(field.entryFields).some(providesField));
  };
  return contactsFirst(columns.filter(isUnused)).map(({ name }) => name);
}

/** The columns of states that a file has. */
const stateColumns = ({ survey: { facts, header } }: CsvPlan): [column: string, facts: ColumnFacts][] =>
  [...facts].flatMap(([index, each]) => {
    const column = header.names[index] ?? '';
    return isState(column) ? [[column, each]] : [];
  });

/** How many rows there are of each state, and how to leave out those who do not come. */
function stateNotes(plan: CsvPlan): string[] {
  return stateColumns(plan).map(([column, facts]) => {
    const states = [...statesOf(facts)].map(([state, count]) => `${quoteShortened(state)} ${formatNumber(count)}`);
    const note = `Column ${quote(column)}: ${states.join(', ')}.`;
    const outCount = facts.countOf(isOutState);
    if (outCount === 0 || plan.format.only) return note;
    const advice = `To import the rows of some states alone, use --only ${quote(`${column}=STATE`)} for each.`;
    return `${note} Imported like the others: ${formatCount(outCount, 'row')} of people who are declined, canceled, void or waitlisted. ${advice}`;
  });
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
  if (skippableLines.size > 0) all.push(`--skip-rows ${[...skippableLines].join(',')}`);
  const proposal = [command, ...all].join(' ');
  const introduction = isComplete ? 'Try' : 'Correct the file, and try';
  const lines: string[] = [];
  if (dateFormat) {
    // Nothing in the file proves the order of day and month, so the operator chooses between two commands.
    const [other, first] = dateFormat.endsWith('DMY') ? ['MDY', 'month'] : ['DMY', 'day'];
    lines.push(`${introduction}: ${proposal} ${dateFormat}`);
    lines.push(`Or, if the ${first} comes first in its dates: ${proposal} --date-format ${other}`);
  } else if (all.length > 0) {
    lines.push(`${introduction}: ${proposal}`);
  }
  lines.push('To import what can be read, and have the rest listed in a file, add --lenient.');
  return lines;
}
