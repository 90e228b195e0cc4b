import { isUtf8 } from 'node:buffer';
import { getDecoder } from 'iconv-lite';
import { ImportFault, NOWHERE, refusal } from './faults';

/** Of one record; a line that never ends, as /dev/zero has it, must not fill the memory. */
export const MAX_ROW_MIB = 16;
export const MAX_ROW = MAX_ROW_MIB << 20;

/** @throws ImportFault naming the line */
export function requireRow(characters: number, line: number): void {
  if (characters <= MAX_ROW) return;
  const says = `longer than ${MAX_ROW_MIB} MiB`;
  throw new ImportFault([{ ...NOWHERE, line, wanted: `at most ${MAX_ROW_MIB} MiB`, says }]);
}

interface Decoder {
  write(bytes: Buffer): string;
  end(): string | undefined;
}

const NAMES_OF_UTF8 = /^utf-?8$/i;

/**
 * The text of a file as it comes, without a byte order mark: UTF-8, UTF-16 with such a mark, or the encoding that is said.
 * @throws ImportFault naming the line of bytes that are no text in it: replaced, they would be stored for good
 */
export async function* textOf(chunks: AsyncIterable<Buffer>, encoding?: string): AsyncGenerator<string> {
  let decoder: Decoder | undefined;
  let begun: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    begun = bytes;
    if (!decoder && bytes.length < 3) continue;
    begun = Buffer.alloc(0);
    decoder ??= decoderOf(bytes, encoding);
    yield decoder.write(bytes);
  }
  decoder ??= decoderOf(begun, encoding);
  yield decoder.write(begun) + (decoder.end() ?? '');
}

function decoderOf(bytes: Buffer, encoding?: string): Decoder {
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04')
    throw refusal('this is a spreadsheet or an archive; save it as CSV');
  if (encoding && !NAMES_OF_UTF8.test(encoding)) return new KnownDecoder(encoding);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return getDecoder('utf-16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return getDecoder('utf-16be');
  return new Utf8Decoder();
}

/** Of an encoding that is not Unicode's, bytes may mean nothing. */
class KnownDecoder implements Decoder {
  private readonly decoder: Decoder;

  constructor(private readonly encoding: string) {
    this.decoder = getDecoder(encoding);
  }

  write(bytes: Buffer): string {
    const text = this.decoder.write(bytes);
    if (text.includes('\ufffd') && !/^u(tf|cs)/i.test(this.encoding)) {
      throw refusal(`the file has bytes that are no characters of ${this.encoding}; say another --encoding`);
    }
    return text;
  }

  end = (): string | undefined => this.decoder.end();
}

class Utf8Decoder implements Decoder {
  private begun: Buffer = Buffer.alloc(0);
  private line = 1;
  private isStart = true;

  write(chunk: Buffer): string {
    const bytes = this.begun.length > 0 ? Buffer.concat([this.begun, chunk]) : chunk;
    const end = lastCharacter(bytes);
    this.begun = bytes.subarray(end);
    return this.decoded(bytes.subarray(0, end));
  }

  end = (): string => this.decoded(this.begun);

  private decoded(bytes: Buffer): string {
    if (!isUtf8(bytes)) {
      const lines = bytes.toString('latin1').split('\n');
      const fault = this.line + lines.findIndex((each) => !isUtf8(Buffer.from(each, 'latin1')));
      throw refusal(`line ${fault} is not UTF-8; say what it is with --encoding, windows-1252 for example`);
    }
    const text = bytes.toString();
    this.line += text.split('\n').length - 1;
    const isStart = this.isStart;
    this.isStart &&= text === '';
    return isStart ? text.replace(/^\uFEFF/, '') : text;
  }
}

/** Where the last character of UTF-8 begins: a part may end within it. */
function lastCharacter(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at--;
  return Math.max(at, 0);
}
