import type { CsvPlan } from '../exchange/csv/plan';
import { databaseErrorMessage } from '../data/database/errors';
import type { Datasets } from '../exchange/datasets/dataset';
import { ImportError, NO_LOCATION } from '../exchange/datasets/import-error';
import type { ImportResult } from '../exchange/datasets/import.service';
import { quote, quoteShortened } from '../exchange/datasets/quote';
import type { BeforeFile } from './before-file';
import type { LeftOutList } from './left-out-list';
import { formatCount, formatNumber } from './terminal/table';

/** What is known about an import that has succeeded. */
export interface FinishedImport {
  datasets: Datasets;
  result: ImportResult;
  /** Undefined if nothing may be left out. */
  leftOut?: LeftOutList;
  /** The file of the changed records, if they are kept. A dry run changes none, so it has no such file. */
  before?: BeforeFile;
  /** Whether the option is given that keeps the changed records. */
  keepsBefore: boolean;
}

const csvPlanOf = ({ plan }: ImportResult): CsvPlan | undefined => ('mapping' in plan ? (plan as CsvPlan) : undefined);

/** What a person reads: the result in one sentence or two, how the file was read, and where to find the rest. */
export function reportText({ datasets, result, leftOut, before, keepsBefore }: FinishedImport): string {
  const { importId } = result;
  const isDryRun = importId === undefined;
  return applicableLines([
    `${isDryRun ? 'Would import' : 'Imported'} ${outcomesText(datasets, result)}.${leftOut ? leftOutText(leftOut) : ''}`,
    ...readingNotes(result),
    importId !== undefined && `Import ID: ${importId}`,
    before &&
      before.count > 0 &&
      `Saved ${formatCount(before.count, 'record')} as before the import to ${before.path}.`,
    isDryRun && !keepsBefore && beforeAdvice(result),
    isDryRun && 'This was a dry run: nothing was stored.',
  ]).join('\n');
}

/** What brings changed records back. Undefined if none would be changed. */
export function beforeAdvice({ outcomes }: ImportResult): string | undefined {
  const updated = Object.values(outcomes).reduce((sum, each) => sum + each.updated, 0);
  const changes = `This would change ${formatCount(updated, 'record')}. To be able to bring that back, add --before FILE.`;
  return updated > 0 ? changes : undefined;
}

/** What a program reads. The ids of each section that reports them are a property with its name. */
export function reportJson({ result, leftOut, before }: FinishedImport): object {
  const { importId, imported, ids, repeatedRows, notFound } = result;
  const { counts } = csvPlanOf(result) ?? {};
  const { firstRepeatedHour: first, repeatedHours } = counts ?? {};
  return {
    importId,
    imported,
    outcomes: outcomesOf(result),
    ...ids,
    repeatedRows: repeatedRows || undefined,
    filtered: counts?.filtered || undefined,
    notFound: notFound || undefined,
    repeatedHours: first && { count: repeatedHours, ...first },
    ignoredColumns: ignoredColumns(result),
    before: before && (before.count > 0 ? before.path : null),
    ...(leftOut && {
      skipped: { rows: leftOut.rows, values: leftOut.values },
      errorsFile: leftOut.errorsFile,
      skippedFile: leftOut.rowsFile,
    }),
    dryRun: importId === undefined || undefined,
  };
}

/** What became of the records of each section. A CSV file has its section even if it has no rows. */
export function outcomesOf({ outcomes, plan }: ImportResult): ImportResult['outcomes'] {
  const empty =
    'mapping' in plan ? { [(plan as CsvPlan).mapping.section]: { created: 0, updated: 0, unchanged: 0 } } : {};
  return { ...empty, ...outcomes };
}

/** Describes the result, such as `50 leads: 38 created, 10 updated, 2 unchanged; 1 event: …`. */
export function outcomesText(datasets: Datasets, result: ImportResult): string {
  const parts = Object.entries(outcomesOf(result)).map(([name, { created, updated, unchanged }]) => {
    const what = `${formatNumber(created)} created, ${formatNumber(updated)} updated, ${formatNumber(unchanged)} unchanged`;
    return `${formatCount(result.imported[name] ?? 0, datasets.of(name).noun)}: ${what}`;
  });
  return parts.join('; ') || 'nothing';
}

/** The lines that apply. */
export const applicableLines = (lines: (string | false | undefined)[]): string[] =>
  lines.filter((line) => typeof line === 'string');

/** The errors of the file, or the one with which the database ended the import. Undefined for any other error. */
export function errorsJson(error: unknown): { errors: object[]; more: number } | undefined {
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
function leftOutText({ rows, values, errorsFile, rowsFile }: LeftOutList): string {
  const what = applicableLines([rows > 0 && formatCount(rows, 'row'), values > 0 && formatCount(values, 'value')]);
  if (what.length === 0) return '';
  const files = applicableLines([errorsFile ?? false, rowsFile ?? false]);
  return ` Skipped ${what.join(' and ')}${files.length > 0 ? `: see ${files.join(' and ')}` : ''}.`;
}

/** The columns that the mapping does not name and that have a name. */
function ignoredColumns(result: ImportResult): string[] | undefined {
  const plan = csvPlanOf(result);
  if (plan?.mapping.otherColumns !== 'ignore') return undefined;
  return plan.columns.filter(({ isUnnamed, name }) => isUnnamed && name !== '').map(({ name }) => name);
}

/** What the operator should know of how a file was read. */
export function readingNotes(result: ImportResult): string[] {
  const { repeatedRows, notFound } = result;
  const plan = csvPlanOf(result);
  if (!plan) return [];
  const { filtered, repeatedHours, firstRepeatedHour: first } = plan.counts;
  const ignored = ignoredColumns(result) ?? [];
  const resolution =
    plan.onDuplicate === 'merge'
      ? 'joined with the first row of the same key'
      : 'not kept, as another row has the same key';
  return applicableLines([
    ignored.length > 0 && `Columns that the mapping does not name: ${ignored.map(quote).join(', ')}.`,
    filtered > 0 && `${formatCount(filtered, 'row')} not imported, as the mapping has only other values.`,
    notFound > 0 && `${formatCount(notFound, 'row')} not imported, as no stored record matches.`,
    first &&
      `${formatCount(repeatedHours, 'time')} in an hour that occurs twice in ${first.timeZone}, such as ${quoteShortened(first.value)}: the first one was taken, UTC${first.offset}. Add the offset to a time that is the second one.`,
    repeatedRows > 0 && `${formatCount(repeatedRows, 'row')}: ${resolution}.`,
  ]);
}
