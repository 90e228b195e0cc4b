import { constants, isUtf8 } from 'node:buffer';
import { isObject } from '../api-schema/fields';
import type { Datasets, UncheckedRecord } from './dataset';
import { ImportFault } from './import-fault';
import { quoted } from './quoted';

/**
 * UTF-8 as text, without a byte order mark, as it comes.
 * @throws ImportFault naming the line of a byte that is no UTF-8: replaced, it would be stored for good
 */
export async function* textOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer = Buffer.alloc(0);
  let line = 1;
  let isStart = true;
  for await (const chunk of chunks) {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    const end = lastCharacter(bytes);
    begun = bytes.subarray(end);
    const text = decoded(bytes.subarray(0, end), line);
    yield isStart ? text.replace(/^\uFEFF/, '') : text;
    line += text.split('\n').length - 1;
    isStart &&= text === '';
  }
  yield decoded(begun, line);
}

/** Where the last character of UTF-8 begins: a part may end within it. */
function lastCharacter(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return Math.max(at, 0);
}

/** @param line that the bytes begin in, from 1 */
function decoded(bytes: Buffer, line: number): string {
  if (isUtf8(bytes)) return bytes.toString();
  const lines = bytes.toString('latin1').split('\n');
  const fault = lines.findIndex((each) => !isUtf8(Buffer.from(each, 'latin1')));
  throw new ImportFault(`line ${line + fault}: not UTF-8`);
}

/** Of one record; a line that never ends, as /dev/zero has it, must not fill the memory. */
export const MAX_ROW_MIB = 16;
const MAX_ROW = MAX_ROW_MIB << 20;

/** JavaScript's strings end at half a gigabyte. */
function requireRoom(characters: number): void {
  if (characters <= constants.MAX_STRING_LENGTH) return;
  throw new ImportFault(
    'the dataset is larger than 512 MiB, too large for one JSON object; as NDJSON it may be of any size',
  );
}

function requireRow(characters: number, line: number): void {
  if (characters > MAX_ROW) throw new ImportFault(`line ${line}: longer than ${MAX_ROW_MIB} MiB`);
}

/**
 * The records of a dataset in either of its forms: NDJSON, as its first line shows, in constant memory; or one JSON object,
 * which is read whole.
 * @throws ImportFault naming the line that is no UTF-8 or no JSON
 */
export async function* datasetRecords(
  chunks: AsyncIterable<Buffer>,
  datasets: Datasets,
): AsyncGenerator<UncheckedRecord> {
  let isNdjson: boolean | undefined;
  /** of the object, or of a line that has not ended */
  let held = '';
  let line = 1;
  for await (const part of textOf(chunks)) {
    requireRoom(held.length + part.length);
    held += part;
    if (isNdjson) requireRow(held.length - part.length, line);
    if (isNdjson === false || !part.includes('\n')) continue;
    isNdjson = beginsNdjson(held);
    if (isNdjson === false) continue;
    const lines = held.split('\n');
    held = lines.pop() ?? '';
    for (const each of lines) {
      if (each.trim() !== '') yield ofLine(each, line, datasets);
      line++;
    }
  }
  if (isNdjson ?? beginsNdjson(held)) {
    if (held.trim() !== '') yield ofLine(held, line, datasets);
  } else {
    yield* ofObject(parseWhole(held, line), datasets);
  }
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

function ofLine(text: string, line: number, { has, names }: Datasets): UncheckedRecord {
  requireRow(text.length, line);
  const value = parsed(text) as { section?: unknown; record?: unknown } | null | undefined;
  if (value === undefined) throw new ImportFault(`line ${line}: not JSON`);
  if (has(value?.section)) return { section: value.section, record: value.record, line };
  throw new ImportFault(`line ${line}: section must be one of ${names.join(', ')}`);
}

/** @param line that it begins in */
function parseWhole(text: string, line: number): object {
  if (text.trim() === '') throw new ImportFault('the dataset is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ImportFault(`${lineOf(error as Error, text, line)}not JSON`);
  }
  if (isObject(value)) return value;
  throw new ImportFault('the dataset must be one JSON object, or NDJSON');
}

/** The line of a syntax error, where JSON.parse says it. The rest of its message quotes the data. */
function lineOf({ message }: Error, text: string, line: number): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `line ${line + text.slice(0, Number(position)).split('\n').length - 1}: `;
}

/** The records of a dataset as one object. */
export function* ofObject(dataset: object, { has, names }: Datasets): Generator<UncheckedRecord> {
  for (const [section, records] of Object.entries(dataset)) {
    if (!has(section)) throw new ImportFault(`${quoted(section)}: not a section (${names.join(', ')})`);
    if (!Array.isArray(records)) throw new ImportFault(`${section}: not an array`);
  }
  for (const section of names) {
    for (const record of (dataset as Record<string, unknown[]>)[section] ?? []) yield { section, record };
  }
}
