import { constants, isUtf8 } from 'node:buffer';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { isObject } from '../../api-schema/fields';
import { quoted, reasonOf, Refusal } from '../terminal/terminal';
import { ImportFault } from './import-fault';
import { SectionName, SECTIONS, type UncheckedRecord } from './sections';

/** Bytes of a file, as far as that is known; whether it can be read is seen when it is read. */
export const sizeOf = (file: string): number | undefined =>
  file !== '-' && existsSync(file) ? statSync(file).size || undefined : undefined;

/**
 * A file, or standard input.
 * @param onBytes called with the size of each part
 * @throws Refusal when it cannot be read
 */
export async function* chunksOf(file: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      const bytes = chunk as Buffer;
      onBytes(bytes.length);
      yield bytes;
    }
  } catch (error) {
    throw new Refusal(`cannot read ${file === '-' ? 'standard input' : file}: ${reasonOf(error)}`);
  }
}

/**
 * UTF-8 as text, without a byte order mark, in parts of whole lines.
 * @throws ImportFault naming the line of a byte that is no UTF-8: replaced, it would be stored for good
 */
export async function* textOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let waiting: Buffer[] = [];
  let line = 1;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) {
      const text = decoded(Buffer.concat([...waiting, chunk.subarray(0, end)]), line);
      yield text;
      line += text.split('\n').length - 1;
      waiting = [];
    }
    waiting.push(chunk.subarray(end));
  }
  yield decoded(Buffer.concat(waiting), line);
}

/** @param line that the bytes begin with, from 1 */
function decoded(bytes: Buffer, line: number): string {
  requireRoom(bytes.length);
  if (isUtf8(bytes)) return line === 1 ? bytes.toString().replace(/^\uFEFF/, '') : bytes.toString();
  const lines = bytes.toString('latin1').split('\n');
  const fault = lines.findIndex((each) => !isUtf8(Buffer.from(each, 'latin1')));
  throw new ImportFault(`line ${line + fault}: not UTF-8`);
}

/** JavaScript's strings end at half a gigabyte. */
function requireRoom(characters: number): void {
  if (characters <= constants.MAX_STRING_LENGTH) return;
  throw new Refusal('the dataset is too large for one JSON object; as NDJSON it may be of any size');
}

/**
 * The records of a dataset in either of its forms: NDJSON, as its first line shows, in constant memory; or one JSON object,
 * which is read whole.
 * @throws ImportFault naming the line that is no UTF-8 or no JSON
 */
export async function* datasetRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<UncheckedRecord> {
  let isNdjson: boolean | undefined;
  let text = '';
  let line = 1;
  for await (const part of textOf(chunks)) {
    requireRoom(text.length + part.length);
    text += part;
    isNdjson ??= beginsNdjson(text);
    if (!isNdjson) continue;
    const lines = text.split('\n');
    for (const [index, each] of lines.entries()) {
      if (each.trim() !== '') yield ofLine(each, line + index);
    }
    line += lines.length - 1;
    text = '';
  }
  if (!isNdjson) yield* ofObject(parseWhole(text));
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

function ofLine(text: string, line: number): UncheckedRecord {
  const value = parsed(text) as { section?: unknown; record?: unknown } | null | undefined;
  if (value === undefined) throw new ImportFault(`line ${line}: not JSON`);
  if (isSection(value?.section)) return { section: value.section, record: value.record, line };
  throw new ImportFault(`line ${line}: section must be one of ${SECTIONS.join(', ')}`);
}

function parseWhole(text: string): object {
  if (text.trim() === '') throw new ImportFault('the dataset is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ImportFault(`${lineOf(error as Error, text)}not JSON`);
  }
  if (isObject(value)) return value;
  throw new ImportFault('the dataset must be one JSON object, or NDJSON');
}

/** The line of a syntax error, where JSON.parse says it. The rest of its message quotes the data. */
function lineOf({ message }: Error, text: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `line ${text.slice(0, Number(position)).split('\n').length}: `;
}

/** The records of a dataset as one object. */
export function* ofObject(dataset: object): Generator<UncheckedRecord> {
  for (const [section, records] of Object.entries(dataset)) {
    if (!isSection(section)) throw new ImportFault(`${quoted(section)}: not a section (${SECTIONS.join(', ')})`);
    if (!Array.isArray(records)) throw new ImportFault(`${section}: not an array`);
  }
  for (const section of SECTIONS) {
    for (const record of (dataset as Record<string, unknown[]>)[section] ?? []) yield { section, record };
  }
}

const isSection = (name: unknown): name is SectionName => SECTIONS.includes(name as SectionName);
