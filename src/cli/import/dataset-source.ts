import { createReadStream, statSync } from 'node:fs';
import { ImportFault } from './import-fault';
import { reasonOf, Refusal } from '../terminal/terminal';

/** A dataset in one of its two forms. */
type DatasetSource = { lines: AsyncIterable<string> } | { dataset: object };

/**
 * Opens a dataset. NDJSON is known by its first line and read as it is asked for, in constant memory; one JSON object
 * is read whole.
 * @param onBytes called with the size of each part
 * @throws ImportFault naming the line that is no UTF-8 or no JSON; Refusal when the file cannot be read
 */
export async function openDataset(file: string, onBytes: (count: number) => void): Promise<DatasetSource> {
  const lines = linesOf(chunksOf(file, onBytes));
  const head = await upToFirst(lines);
  const first = parsed(head.at(-1) ?? '');
  if (isObject(first) && 'section' in first) return { lines: prepended(head, lines) };
  const next = await upToFirst(lines);
  // Objects one a line are meant for NDJSON: the first is refused for lack of a section.
  if (isObject(first) && isObject(parsed(next.at(-1) ?? ''))) return { lines: prepended(head.concat(next), lines) };
  const rest = next.concat(await collected(lines));
  const isWhole = first !== undefined && rest.every((line) => line.trim() === '');
  const whole = isWhole ? first : parseWhole(joined(head.concat(rest)));
  if (isObject(whole)) return { dataset: whole };
  throw new ImportFault('the dataset must be one JSON object, or NDJSON');
}

/** Bytes of a dataset, as far as that is known; whether it can be read is seen when it is read. */
export function sizeOf(file: string): number | undefined {
  try {
    const there = file === '-' ? undefined : statSync(file);
    return there?.isFile() ? there.size : undefined;
  } catch {
    return undefined;
  }
}

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
 * Lines of UTF-8, without their ends. A byte that is no UTF-8 is a fault: replaced, it would be stored for good.
 * @throws ImportFault naming the line, after the lines before it
 */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let before = 0;
  for await (const block of wholeLines(chunks)) {
    const text = decode(block);
    const lines = text === undefined ? soundLines(block) : text.split('\n');
    if (text?.endsWith('\n')) lines.pop();
    if (before === 0 && lines[0]) lines[0] = lines[0].replace(/^\uFEFF/, '');
    yield* lines;
    before += lines.length;
    if (text === undefined) throw new ImportFault(`line ${before + 1}: not UTF-8`);
  }
}

/** The lines of a block before the one that is no UTF-8. */
function soundLines(block: Buffer): string[] {
  const lines = block
    .toString('latin1')
    .split('\n')
    .map((line) => decode(Buffer.from(line, 'latin1')));
  return lines.slice(0, lines.indexOf(undefined)) as string[];
}

/** The same bytes, split at ends of lines only, so that each part can be decoded by itself. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end === 0) {
      waiting.push(chunk);
      continue;
    }
    yield Buffer.concat([...waiting, chunk.subarray(0, end)]);
    waiting = [chunk.subarray(end)];
  }
  yield Buffer.concat(waiting);
}

// A byte order mark stands at the start of a file; elsewhere it is a character like others.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STRING_TOO_LONG') throw tooLarge();
    return undefined;
  }
}

/** The lines up to the first that is not blank. */
async function upToFirst(lines: AsyncGenerator<string>): Promise<string[]> {
  const head: string[] = [];
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    head.push(next.value);
    if (next.value.trim() !== '') break;
  }
  return head;
}

async function* prepended(head: string[], lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield* head;
  yield* lines;
}

async function collected(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

function joined(lines: string[]): string {
  try {
    return lines.join('\n');
  } catch {
    throw tooLarge();
  }
}

/** JavaScript's strings end at half a gigabyte. */
const tooLarge = (): Refusal =>
  new Refusal('the dataset is too large for one JSON object; as NDJSON it may be of any size');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseWhole(text: string): unknown {
  if (text.trim() === '') throw new ImportFault('the dataset is empty');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportFault(`${lineOf(error as Error, text)}not JSON`);
  }
}

/** The line of a syntax error, where JSON.parse says it. The rest of its message quotes the data. */
function lineOf({ message }: Error, text: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `line ${text.slice(0, Number(position)).split('\n').length}: `;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
