import { isObject } from '../../fields/field-rules';
import type { Datasets, RawRecord, Records } from './dataset';
import { looksLikeCsv } from './fallback-delimiter';
import { requireRowLength } from './open';
import { ImportError, importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from './import-error';
import { type ImportPlan, type ImportSource, type ReadRecord, WHOLE_RECORDS } from './import-plan';
import { jsonErrorIndex } from './json-syntax';
import { quote } from './quote';
import { RecordCheck } from './record-check';

/** The longest dataset that is one JSON object. */
export const MAX_OBJECT_MIB = 64;

/**
 * Reads the records of a JSON dataset. Its first line tells which form it has: NDJSON, which is read line by line in
 * constant memory, or one JSON object, which is read as a whole.
 * @param issues collects the errors of lines that are not records
 * @param csvCommand the command that a message suggests for a CSV file
 * @throws ImportError if the rest of the file cannot be read
 */
export async function* datasetRecords(
  text: AsyncIterable<string>,
  datasets: Datasets,
  issues: IssueCollector,
  csvCommand = 'import with --csv',
): AsyncGenerator<Iterable<RawRecord>> {
  let form: 'ndjson' | 'object' | undefined;
  /** The object so far, or a line that has not ended. */
  let pending = '';
  let line = 1;
  let isJson = false;
  for await (const part of text) {
    if (form === 'ndjson') requireRowLength(pending.length, line);
    else requireObjectLength(pending.length);
    pending += part;
    // Blank lines are dropped, and the start is looked at once: doing so with each part would take quadratic time.
    if (!isJson && pending.trim() === '') {
      line += pending.split('\n').length - 1;
      pending = '';
      continue;
    }
    if (!isJson) requireJsonStart(pending, line, csvCommand);
    isJson = true;
    if (form === 'object' || !part.includes('\n')) continue;
    form ??= formOf(pending);
    if (form === 'object') continue;
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    yield lineRecords(lines, line, datasets, issues);
    line += lines.length;
  }
  // NDJSON without records, as the export of an empty organization, is an empty file.
  if (pending.trim() === '' && form === undefined) return;
  form ??= formOf(pending);
  if (form === 'ndjson') yield lineRecords([pending], line, datasets, issues);
  else yield objectRecords(parseObject(pending, line), datasets, issues);
}

/** @throws ImportError if an object is so long, because all of it is in memory */
function requireObjectLength(length: number): void {
  if (length <= MAX_OBJECT_MIB << 20) return;
  const message = `The dataset is one JSON object of more than ${MAX_OBJECT_MIB} MiB. Use NDJSON, as export --ndjson writes it.`;
  throw importError(message, `at most ${MAX_OBJECT_MIB} MiB, or NDJSON`);
}

/** @throws ImportError if a file whose text so far is not blank does not begin with JSON */
function requireJsonStart(text: string, line: number, csvCommand: string): void {
  if (/^\s*[{[]/.test(text)) return;
  const [firstLine = ''] = text.trimStart().split(/\r\n|\n|\r/, 1);
  if (looksLikeCsv(firstLine)) throw importError(`This looks like CSV, not JSON. Try: ${csvCommand}`);
  throw notJson(line);
}

const notJson = (line: number): ImportError =>
  new ImportError([{ ...NO_LOCATION, line, expected: 'JSON', message: 'This is not valid JSON.' }]);

/** NDJSON begins with a line that is an object with a section, or that is one of several objects. */
function formOf(text: string): 'ndjson' | 'object' {
  // The first line may have 16 MiB, and is parsed later.
  if (/^\s*\{"section":"/.test(text)) return 'ndjson';
  const [firstLine = '', secondLine = ''] = text.trimStart().split('\n', 2);
  const value = parseJson(firstLine);
  return isObject(value) && ('section' in value || secondLine.trim() !== '') ? 'ndjson' : 'object';
}

/** The value of a JSON text; undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param first number of the first line */
function* lineRecords(
  lines: string[],
  first: number,
  datasets: Datasets,
  issues: IssueCollector,
): Generator<RawRecord> {
  for (const [index, text] of lines.entries()) {
    const line = first + index;
    if (text.trim() === '') continue;
    requireRowLength(text.length, line);
    const value = parseJson(text) as { section?: unknown; record?: unknown } | null | undefined;
    if (isObject(value) && 'written' in value) throw ofBefore(line);
    const section = value?.section;
    if (datasets.has(section)) {
      yield { section, record: value?.record, line };
    } else if (value === undefined) {
      issues.add(...notJson(line).issues);
    } else {
      const expected = `one of: ${datasets.names.join(', ')}`;
      const message = `This line has no known section. Use {"section": …, "record": …} with ${expected}.`;
      issues.add({ ...NO_LOCATION, line, value: typeof section === 'string' ? section : null, expected, message });
    }
  }
}

/** A record and what an import made of it are no dataset: which of them should be stored, only an undo can find out. */
function ofBefore(line: number): ImportError {
  const expected = 'a dataset';
  const message = 'This is a file of --before. To take its import back, use "imports undo IMPORTID --before FILE".';
  return new ImportError([{ ...NO_LOCATION, line, expected, message }]);
}

/** @param line in which the object begins */
function parseObject(text: string, line: number): object {
  const value = parseJson(text);
  if (value === undefined) throw notJson(errorLine(text, line));
  if (isObject(value)) return value;
  throw importError('The dataset must be one JSON object, or NDJSON.');
}

/** The line on which a text stops being JSON. The message of JSON.parse must not be shown, because it quotes the data. */
const errorLine = (text: string, firstLine: number): number =>
  firstLine + text.slice(0, jsonErrorIndex(text)).split('\n').length - 1;

/**
 * A source of whole records: JSON, NDJSON, or what the program has made itself.
 * @param open gives the records, and adds what is none to the issues
 */
export const wholeRecords = (datasets: Datasets, open: (issues: IssueCollector) => Records): ImportSource => ({
  plan: () => WHOLE_RECORDS,
  read: (plan, { issues }) => checkedRecords(datasets, plan, open(issues)),
});

async function* checkedRecords(
  datasets: Datasets,
  plan: ImportPlan,
  records: Records,
): AsyncGenerator<Iterable<ReadRecord>> {
  const check = new RecordCheck(datasets, plan);
  const counts = datasets.noRecords();
  function* checked(part: Iterable<RawRecord>): Generator<ReadRecord> {
    for (const { section, record: raw, line } of part) {
      const location = { section, index: counts[section] ?? 0, line };
      counts[section] = location.index + 1;
      const { record, issues } = check.check(location, raw);
      yield { location, record: issues.length === 0 ? record : undefined, issues };
    }
  }
  for await (const part of Symbol.iterator in records ? [records] : records) yield checked(part);
}

/** The records of one object: a dataset, a response of the API, or the results of one. */
export function* objectRecords(dataset: object, datasets: Datasets, issues: IssueCollector): Generator<RawRecord> {
  const { results } = dataset as { results?: unknown };
  const sections = (isObject(results) && 'status' in dataset ? results : dataset) as Record<string, unknown>;
  for (const [section, records] of Object.entries(sections)) {
    // A list of the API's response has it beside its records.
    const isTotal = section === 'total' && typeof records === 'number';
    if (!isTotal && !datasets.has(section)) issues.add(unknownSection(section, datasets));
    if (!datasets.has(section) || Array.isArray(records)) continue;
    const expected = 'an array of records';
    issues.add({ ...NO_LOCATION, path: section, expected, message: `A section must be ${expected}.`, order: -1 });
  }
  for (const section of datasets.names) {
    const records = sections[section];
    if (!Array.isArray(records)) continue;
    for (const record of records as unknown[]) yield { section, record };
  }
}

function unknownSection(section: string, { names }: Datasets): LocatedIssue {
  const expected = `one of: ${names.join(', ')}`;
  return { ...NO_LOCATION, path: quote(section), expected, message: `Unknown section. Use ${expected}.`, order: -1 };
}
