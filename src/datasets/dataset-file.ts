import { constants } from 'node:buffer';
import { isObject } from '../api/field-rules';
import { most } from '../csv/csv-text';
import type { Datasets, UncheckedRecord } from './dataset';
import { closestName } from './expected';
import { type Faults, ImportFault, NOWHERE, refusal } from './faults';
import { requireRow } from './file-text';
import { quoted } from './quoted';

/** JavaScript's strings end at half a gigabyte. */
function requireRoom(characters: number): void {
  if (characters <= constants.MAX_STRING_LENGTH) return;
  throw refusal('the dataset is larger than 512 MiB, too large for one JSON object; as NDJSON it may be of any size');
}

/**
 * The records of a dataset in either of its forms: NDJSON, as its first line shows, in constant memory; or one JSON object,
 * which is read whole.
 * @param faults are given those of lines that are no records
 * @param csvCommand what imports a file of CSV
 * @throws ImportFault where it cannot be read on
 */
export async function* datasetRecords(
  text: AsyncIterable<string>,
  datasets: Datasets,
  faults: Faults,
  csvCommand = 'import with --csv',
): AsyncGenerator<UncheckedRecord> {
  let isNdjson: boolean | undefined;
  /** of the object, or of a line that has not ended */
  let held = '';
  let line = 1;
  for await (const part of text) {
    requireRoom(held.length + part.length);
    held += part;
    if (isNdjson === undefined && held.trim() === '') {
      // Blank lines are counted and dropped: to look through them again with each part takes quadratic time.
      line += held.split('\n').length - 1;
      held = '';
      continue;
    }
    if (isNdjson) requireRow(held.length - part.length, line);
    if (isNdjson === undefined) requireJson(held, csvCommand);
    if (isNdjson === false || !part.includes('\n')) continue;
    isNdjson = beginsNdjson(held);
    if (isNdjson === false) continue;
    const lines = held.split('\n');
    held = lines.pop() ?? '';
    for (const each of lines) {
      if (each.trim() !== '') yield* ofLine(each, line, datasets, faults);
      line++;
    }
  }
  if (isNdjson ?? beginsNdjson(held)) {
    if (held.trim() !== '') yield* ofLine(held, line, datasets, faults);
  } else {
    yield* ofObject(parseWhole(held, line), datasets, faults);
  }
}

/** Refuses what is no JSON at its first line: that of CSV, with the command to use. */
function requireJson(text: string, csvCommand: string): void {
  const begun = text.slice(0, 65_536).trimStart();
  if (begun === '' || /^[{[]/.test(begun)) return;
  const [first = '', ...others] = begun.split(/\r\n|\n|\r/);
  if (parsed(first) !== undefined || (others.length === 0 && text.length < 65_536)) return; // the line may go on
  refuseCsv(first, csvCommand);
  throw new ImportFault([{ ...NOWHERE, line: 1, wanted: 'JSON', says: 'not JSON' }]);
}

/** @param first line of what is no JSON */
function refuseCsv(first: string, csvCommand: string): void {
  if (!first.includes(most(first))) return;
  throw refusal(`this is no JSON, and looks like CSV; to import it: ${csvCommand}`);
}

/** Whether the first line is an object with a section, or one of several; undefined while there are only blank lines. */
function beginsNdjson(text: string): boolean | undefined {
  const [first = '', next = ''] = text.trimStart().split('\n', 2);
  if (first === '') return undefined;
  const value = parsed(first);
  return isObject(value) && ('section' in value || next.trim() !== '');
}

/** Undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* ofLine(text: string, line: number, { has, names }: Datasets, faults: Faults): Generator<UncheckedRecord> {
  requireRow(text.length, line);
  const value = parsed(text) as { section?: unknown; record?: unknown } | null | undefined;
  if (has(value?.section)) {
    yield { section: value.section, record: value.record, line };
    return;
  }
  const wanted = value === undefined ? 'a JSON object' : `a section: ${names.join(', ')}`;
  const says = value === undefined ? 'not JSON' : `section must be one of ${names.join(', ')}`;
  faults.add({ ...NOWHERE, line, value: value === undefined ? null : (value?.section ?? null), wanted, says });
}

/** @param line that it begins in */
function parseWhole(text: string, line: number): object {
  if (text.trim() === '') throw refusal('the dataset is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const at = lineOf(error as Error, text, line);
    throw new ImportFault([{ ...NOWHERE, line: at, wanted: 'JSON', says: 'not JSON' }]);
  }
  if (isObject(value)) return value;
  throw refusal('the dataset must be one JSON object, or NDJSON');
}

/** The line of a syntax error, where JSON.parse says it. The rest of its message quotes the data. */
function lineOf({ message }: Error, text: string, line: number): number | null {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? null : line + text.slice(0, Number(position)).split('\n').length - 1;
}

/** What an answer of the API has beside the records of its list. */
const OF_ANSWERS = ['total'];

/** The records of a dataset as one object, which may be an answer of the API, or its results. */
export function* ofObject(dataset: object, { has, names }: Datasets, faults: Faults): Generator<UncheckedRecord> {
  const { results } = dataset as { results?: unknown };
  const all = (isObject(results) && 'status' in dataset ? results : dataset) as Record<string, unknown>;
  for (const [section, records] of Object.entries(all)) {
    const fault = { ...NOWHERE, path: section, value: null, order: -1 };
    if (OF_ANSWERS.includes(section) && typeof records === 'number') continue;
    if (!has(section)) {
      const close = closestName(
        section,
        names.map((name) => [name.toLowerCase(), name]),
      );
      const says = `not a section (${names.join(', ')})${close ? `; did you mean ${close}?` : ''}`;
      faults.add({ ...fault, path: quoted(section), wanted: close ?? names.join(', '), says });
    } else if (!Array.isArray(records)) {
      faults.add({ ...fault, wanted: 'an array of records', says: 'not an array' });
    }
  }
  for (const section of names) {
    const records = all[section];
    for (const record of Array.isArray(records) ? (records as unknown[]) : []) yield { section, record };
  }
}
