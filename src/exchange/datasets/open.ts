import { isUtf8 } from 'node:buffer';
import { decode, getDecoder, getEncoder } from 'iconv-lite';
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
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const ZIP_SIGNATURE = 'PK\x03\x04';

/** Contacts as phones and QR codes have them. */
const CARD_START = /^\s*(?:BEGIN:VCARD|MECARD:)/i;

/** How many bytes at the start of a file tell what it is. */
const START_LENGTH = 1000;

/** What bytes that are not UTF-8 are taken for. */
export const LEGACY_ENCODING = 'windows-1252';

/** How a file is not UTF-8. */
export interface EncodingProblem {
  /** One-based number of the first line that is not UTF-8. */
  line: number;
  /** The encoding that the file seems to have; undefined if most of it is UTF-8 nevertheless. */
  encoding?: string;
}

/** What becomes of bytes that are not text: an error, characters that no text has, or text in `LEGACY_ENCODING`. */
type InvalidBytes = 'reject' | 'escape' | ((problem: EncodingProblem) => void);

/** Half of a surrogate pair, which stands for a byte that is not text. */
const ESCAPED_BYTE = 0xdc00;

/** Whether a text has bytes that are not text in the encoding of the file. */
export const hasInvalidBytes = (text: string): boolean =>
  !text.isWellFormed() && /(?<![\ud800-\udbff])[\udc00-\udcff]/.test(text);

/**
 * Decodes a file as it is read, and drops a byte order mark.
 * @param encoding of the file; by default UTF-16 if the file begins with its byte order mark, and UTF-8 otherwise
 * @param invalid a function is called at the end if the file is not UTF-8 as it should be
 * @throws ImportError if bytes that are not text are rejected, because replacement characters would be stored for good
 */
export async function* decodeText(
  chunks: AsyncIterable<Buffer>,
  encoding?: string,
  invalid: InvalidBytes = 'reject',
): AsyncGenerator<string> {
  let decoder: Decoder | undefined;
  for await (const chunk of joinStart(chunks)) {
    decoder ??= createDecoder(chunk, encoding, invalid);
    yield decoder.write(chunk);
  }
  yield decoder?.end() ?? '';
}

/** The chunks of a file, the first of which tells what it is. UTF-8 has no byte order mark then. */
async function* joinStart(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const withoutMark = (start: Buffer): Buffer =>
    start.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? start.subarray(BYTE_ORDER_MARK.length) : start;
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    start = start && Buffer.concat([start, chunk]);
    if (start && start.length < START_LENGTH) continue;
    yield start ? withoutMark(start) : chunk;
    start = undefined;
  }
  if (start) yield withoutMark(start);
}

/** @param start the first bytes of the file */
function createDecoder(start: Buffer, encoding: string | undefined, invalid: InvalidBytes): Decoder {
  const text = start.toString('latin1', 0, START_LENGTH);
  if (text.startsWith(ZIP_SIGNATURE)) {
    throw importError('This is a spreadsheet or an archive. Save it as CSV.');
  }
  // UTF-16 has its byte order mark and zeros between the letters.
  if (CARD_START.test(text.replace(/[\0\xfe\xff]/g, ''))) {
    throw importError('This is a vCard or MECARD, which cannot be imported. Save the contacts as CSV.');
  }
  if (encoding && !UTF8_NAMES.test(encoding)) return legacyDecoder(encoding);
  // Its byte order mark tells the decoder which kind of UTF-16 it is.
  if (/^(?:\xff\xfe|\xfe\xff)/.test(text)) return utf16Decoder('utf-16');
  const unmarked = typeof invalid === 'function' && unmarkedUtf16(start.subarray(0, START_LENGTH));
  if (!unmarked) return new Utf8Decoder(invalid);
  invalid({ line: 1, encoding: unmarked });
  return utf16Decoder(unmarked);
}

/** The kind of UTF-16 that a file without a byte order mark has: every second byte of Western text is zero. */
function unmarkedUtf16(start: Buffer): string | undefined {
  const zerosAt = (parity: number): number => start.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  if (Math.max(even, odd) <= start.length / 4) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Decodes the encoding that a mapping names. Bytes that stand for no character in it become half of a surrogate pair. */
function legacyDecoder(encoding: string): Decoder {
  const decoder = getDecoder(encoding);
  // A Unicode file may contain the replacement character itself.
  if (UNICODE_NAMES.test(encoding)) return utf16Decoder(encoding);
  return {
    write: (bytes) => decoder.write(bytes).replaceAll('\ufffd', String.fromCharCode(ESCAPED_BYTE)),
    end: () => decoder.end(),
  };
}

/** Half of a surrogate pair, which stands for the byte of a file that ends within a character. */
const HALF_CHARACTER = '\udc00';

function utf16Decoder(encoding: string): Decoder {
  const decoder = getDecoder(encoding);
  let length = 0;
  return {
    write(bytes) {
      length += bytes.length;
      return decoder.write(bytes);
    },
    end: () => (decoder.end() ?? '') + (length % 2 === 1 ? HALF_CHARACTER : ''),
  };
}

/** Runs of what may be UTF-8 characters of several bytes, each byte being a character of Latin-1. */
const LONG_CHARACTERS = /((?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+)/;

/** Decodes UTF-8. Bytes that are not UTF-8 are read as windows-1252 where somebody is told; otherwise they are an error. */
class Utf8Decoder implements Decoder {
  private pending: Buffer = Buffer.alloc(0);
  private line = 1;
  private invalidLine: number | undefined;
  private hasLongCharacters = false;

  constructor(private readonly invalid: InvalidBytes) {}

  write(chunk: Buffer): string {
    const bytes = this.pending.length > 0 ? Buffer.concat([this.pending, chunk]) : chunk;
    const end = lastCharacterStart(bytes);
    this.pending = bytes.subarray(end);
    return this.decode(bytes.subarray(0, end));
  }

  end(): string {
    const text = this.decode(this.pending);
    if (this.invalidLine !== undefined && typeof this.invalid === 'function') {
      const encoding = this.hasLongCharacters ? undefined : LEGACY_ENCODING;
      this.invalid({ line: this.invalidLine, encoding });
    }
    return text;
  }

  private decode(bytes: Buffer): string {
    const text = isUtf8(bytes) ? this.validText(bytes) : this.mixedText(bytes);
    this.line += text.split('\n').length - 1;
    return text;
  }

  private validText(bytes: Buffer): string {
    const text = bytes.toString();
    this.hasLongCharacters ||= bytes.length !== text.length;
    return text;
  }

  private mixedText(bytes: Buffer): string {
    let text = '';
    for (const part of bytes.toString('latin1').split(LONG_CHARACTERS)) {
      const ofPart = Buffer.from(part, 'latin1');
      if (isUtf8(ofPart)) {
        text += this.validText(ofPart);
        continue;
      }
      const readable = this.invalid === 'escape' ? escapeBytes(part) : decode(ofPart, LEGACY_ENCODING);
      this.noteInvalid(text, readable);
      text += readable;
    }
    return text;
  }

  /** @param before the text of the chunk before the one that is not UTF-8 */
  private noteInvalid(before: string, text: string): void {
    if (this.invalidLine !== undefined) return;
    this.invalidLine = this.line + (before + text.replace(/\P{ASCII}.*/su, '')).split('\n').length - 1;
    if (this.invalid === 'reject') throw importError(`Line ${this.invalidLine} is not valid UTF-8.`);
  }
}

/** @param text bytes of which each is a character of Latin-1 */
const escapeBytes = (text: string): string =>
  text.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(ESCAPED_BYTE + byte.charCodeAt(0)));

/** The index at which the last UTF-8 character begins. A chunk may end within it. */
function lastCharacterStart(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return Math.max(start, 0);
}

/** Writes text in an encoding, and the bytes that were not text in UTF-8 as they were. */
export function textEncoder(encoding = 'utf-8'): (text: string) => Buffer {
  const encoder = getEncoder(encoding);
  if (!UTF8_NAMES.test(encoding)) return (text) => encoder.write(text);
  return (text) => {
    const parts = hasInvalidBytes(text) ? text.split(/((?<![\ud800-\udbff])[\udc00-\udcff])/) : [text];
    return Buffer.concat(
      parts.map((part, index) => (index % 2 === 0 ? Buffer.from(part) : Buffer.from([part.charCodeAt(0) & 0xff]))),
    );
  };
}

/** The beginning of a file: its byte order mark and the encoding that this names, if it has one. */
export async function byteOrderMark(chunks: AsyncIterable<Buffer>): Promise<{ mark: string; encoding?: string }> {
  for await (const chunk of chunks) {
    const start = chunk.toString('latin1', 0, BYTE_ORDER_MARK.length);
    if (start.startsWith('\xff\xfe')) return { mark: '\uFEFF', encoding: 'utf-16le' };
    if (start.startsWith('\xfe\xff')) return { mark: '\uFEFF', encoding: 'utf-16be' };
    return { mark: chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? '\uFEFF' : '' };
  }
  return { mark: '' };
}
