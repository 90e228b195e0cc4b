import { isUtf8 } from 'node:buffer';
import { decode, getDecoder } from 'iconv-lite';
import { ImportError, importError, NO_LOCATION } from './import-error';

/** The longest record of a file with many. A line that never ends, as that of /dev/zero, must not fill the memory. */
export const MAX_ROW_MIB = 16;
/** The same in characters. */
export const MAX_ROW_LENGTH = MAX_ROW_MIB << 20;

/**
 * @param length in characters
 * @throws ImportError that names the line
 */
export function requireRowLength(length: number, line: number): void {
  if (length <= MAX_ROW_LENGTH) return;
  const message = `This line is longer than ${MAX_ROW_MIB} MiB.`;
  throw new ImportError([{ ...NO_LOCATION, line, expected: `at most ${MAX_ROW_MIB} MiB`, message }]);
}

interface Decoder {
  write(bytes: Buffer): string;
  end(): string | undefined;
}

const UTF8_NAMES = /^utf-?8$/i;
const UNICODE_NAMES = /^u(tf|cs)/i;
const ZIP_SIGNATURE = 'PK\x03\x04';

/** The bytes that tell the encoding. */
const SIGNATURE_LENGTH = 3;

/** What bytes that are not UTF-8 are taken for. */
export const LEGACY_ENCODING = 'windows-1252';

/** How a file is not UTF-8. */
export interface EncodingProblem {
  /** One-based number of the first line that is not UTF-8. */
  line: number;
  /** The encoding that the file seems to have; undefined if most of it is UTF-8 nevertheless. */
  encoding?: string;
}

/**
 * Decodes a file as it is read, and drops a byte order mark.
 * @param encoding of the file; by default UTF-16 if the file begins with its byte order mark, and UTF-8 otherwise
 * @param onProblem is called at the end if the file is not UTF-8 as it should be. Its bytes that are not UTF-8 are read as
 *   windows-1252; without the callback they are an error
 * @throws ImportError if bytes are not text in the encoding, because replacement characters would be stored for good
 */
export async function* decodeText(
  chunks: AsyncIterable<Buffer>,
  encoding?: string,
  onProblem?: (problem: EncodingProblem) => void,
): AsyncGenerator<string> {
  let decoder: Decoder | undefined;
  let pending: Buffer = Buffer.alloc(0);
  let start = '';
  for await (const chunk of chunks) {
    const bytes = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    pending = bytes;
    if (!decoder && bytes.length < SIGNATURE_LENGTH) continue;
    pending = Buffer.alloc(0);
    decoder ??= createDecoder(bytes, encoding, onProblem);
    const text = decoder.write(bytes);
    if (start.length < CARD_START_LENGTH) {
      start = (start + text).trimStart().slice(0, CARD_START_LENGTH);
      requireNoCard(start);
    }
    yield text;
  }
  decoder ??= createDecoder(pending, encoding, onProblem);
  yield decoder.write(pending) + (decoder.end() ?? '');
}

const CARD_STARTS = { vCard: 'BEGIN:VCARD', MECARD: 'MECARD:' };
const CARD_START_LENGTH = 11;

/** Refuses contacts as phones and QR codes have them: their lines would make rows of nonsense. */
function requireNoCard(start: string): void {
  for (const [kind, cardStart] of Object.entries(CARD_STARTS)) {
    if (start.toUpperCase().startsWith(cardStart))
      throw importError(`This is a ${kind}, which cannot be imported. Save the contacts as CSV.`);
  }
}

/** @param start the first bytes of the file */
function createDecoder(start: Buffer, encoding?: string, onProblem?: (problem: EncodingProblem) => void): Decoder {
  if (start.toString('latin1', 0, ZIP_SIGNATURE.length) === ZIP_SIGNATURE) {
    throw importError('This is a spreadsheet or an archive. Save it as CSV.');
  }
  if (encoding && !UTF8_NAMES.test(encoding)) return new LegacyDecoder(encoding);
  if (start[0] === 0xff && start[1] === 0xfe) return new Utf16Decoder('utf-16le');
  if (start[0] === 0xfe && start[1] === 0xff) return new Utf16Decoder('utf-16be');
  const unmarked = onProblem && unmarkedUtf16(start);
  if (!unmarked) return new Utf8Decoder(onProblem);
  onProblem({ line: 1, encoding: unmarked });
  return new Utf16Decoder(unmarked);
}

/** The kind of UTF-16 that a file without a byte order mark has: every second byte of Western text is zero. */
function unmarkedUtf16(start: Buffer): string | undefined {
  const bytes = start.subarray(0, 1000);
  const zerosAt = (parity: number): number => bytes.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  if (Math.max(even, odd) < bytes.length / 4) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Decodes the encoding that the operator has named, and rejects bytes that stand for no character in it. */
class LegacyDecoder implements Decoder {
  private readonly decoder: Decoder;

  constructor(private readonly encoding: string) {
    this.decoder = getDecoder(encoding);
  }

  write(bytes: Buffer): string {
    const text = this.decoder.write(bytes);
    // A Unicode file may contain the replacement character itself.
    if (text.includes('\ufffd') && !UNICODE_NAMES.test(this.encoding)) {
      throw importError(`The file has bytes that are not characters of ${this.encoding}. Name another --encoding.`);
    }
    return text;
  }

  end = (): string | undefined => this.decoder.end();
}

/** Half of a surrogate pair, which stands for the byte of a file that ends within a character. */
const HALF_CHARACTER = '\udc00';

class Utf16Decoder implements Decoder {
  private readonly decoder: Decoder;
  private isWithinCharacter = false;

  constructor(encoding: string) {
    this.decoder = getDecoder(encoding);
  }

  write(bytes: Buffer): string {
    if (bytes.length % 2 === 1) this.isWithinCharacter = !this.isWithinCharacter;
    return this.decoder.write(bytes);
  }

  end = (): string => (this.decoder.end() ?? '') + (this.isWithinCharacter ? HALF_CHARACTER : '');
}

/** Decodes UTF-8. Bytes that are not UTF-8 are read as windows-1252 where somebody is told; otherwise they are an error. */
class Utf8Decoder implements Decoder {
  private pending: Buffer = Buffer.alloc(0);
  private line = 1;
  private isStart = true;
  private invalidLine: number | undefined;
  private hasLongCharacters = false;

  constructor(private readonly onProblem?: (problem: EncodingProblem) => void) {}

  write(chunk: Buffer): string {
    const bytes = this.pending.length > 0 ? Buffer.concat([this.pending, chunk]) : chunk;
    const end = lastCharacterStart(bytes);
    this.pending = bytes.subarray(end);
    return this.decode(bytes.subarray(0, end));
  }

  end(): string {
    const text = this.decode(this.pending);
    if (this.invalidLine !== undefined) {
      const encoding = this.hasLongCharacters ? undefined : LEGACY_ENCODING;
      this.onProblem?.({ line: this.invalidLine, encoding });
    }
    return text;
  }

  private decode(bytes: Buffer): string {
    const text = isUtf8(bytes) ? this.validText(bytes) : this.mixedText(bytes);
    this.line += text.split('\n').length - 1;
    const { isStart } = this;
    this.isStart &&= text === '';
    return isStart ? text.replace(/^\uFEFF/, '') : text;
  }

  private validText(bytes: Buffer): string {
    const text = bytes.toString();
    // A byte order mark alone does not make a file UTF-8.
    this.hasLongCharacters ||= bytes.length !== text.replace(/^\uFEFF/, '\uFEFF  ').length;
    return text;
  }

  private noteInvalid(line: number): void {
    const advice = 'Name the encoding, for example --encoding windows-1252.';
    if (!this.onProblem) throw importError(`Line ${line} is not valid UTF-8. ${advice}`);
    this.invalidLine ??= line;
  }

  private mixedText(bytes: Buffer): string {
    let text = '';
    let line = this.line;
    for (let index = 0; index < bytes.length;) {
      const length = characterLength(bytes, index);
      if (length === 0) this.noteInvalid(line);
      if (length > 1) this.hasLongCharacters = true;
      if (bytes[index] === 0x0a) line++;
      const end = index + Math.max(1, length);
      const character = bytes.subarray(index, end);
      text += length === 0 ? decode(character, LEGACY_ENCODING) : character.toString();
      index = end;
    }
    return text;
  }
}

/** How many bytes the UTF-8 character at an index has; 0 if there is none. */
function characterLength(bytes: Buffer, index: number): number {
  const lengths = [1, 2, 3, 4];
  return lengths.find((length) => isUtf8(bytes.subarray(index, index + length)) && index + length <= bytes.length) ?? 0;
}

/** The index at which the last UTF-8 character begins. A chunk may end within it. */
function lastCharacterStart(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return Math.max(start, 0);
}
