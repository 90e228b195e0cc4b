/** Reads answers as strictly as HTTP can be read: what is let through here is what clients of every kind understand. */

export interface Answer {
  status: number;
  /** by lower-case name */
  headers: Map<string, string>;
  body: Buffer;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/;
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): ([\x20-\x7e]*)$/;

/** Takes bytes as they come, and gives the answers that are whole. */
export class AnswerReader {
  private rest: Buffer = Buffer.alloc(0);
  /** whether the next answer has no body, by how many were read */
  constructor(private readonly isHead: (answered: number) => boolean) {}
  readonly answers: Answer[] = [];
  /** what cannot be read as an answer */
  fault: string | undefined;

  add(bytes: Buffer): void {
    this.rest = this.rest.length > 0 ? Buffer.concat([this.rest, bytes]) : bytes;
    while (this.fault === undefined && this.rest.length > 0 && this.readOne());
  }

  /** bytes that are not a whole answer yet */
  get pending(): number {
    return this.rest.length;
  }

  private readOne(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...lines] = this.rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(STATUS_LINE.exec(line)?.[1] ?? NaN);
    const headers = this.headersOf(lines);
    if (Number.isNaN(status)) this.fault = `status line ${JSON.stringify(line.slice(0, 100))}`;
    if (this.fault !== undefined) return false;
    const body = end + 4;
    if (status === 100) {
      this.rest = this.rest.subarray(body);
      return true;
    }
    return this.readBody(status, headers, body);
  }

  private headersOf(lines: string[]): Map<string, string> {
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name = '', value = ''] = HEADER.exec(line) ?? [];
      const key = name.toLowerCase();
      if (key === '' || headers.has(key)) this.fault = `header ${JSON.stringify(line)}`;
      headers.set(key, value);
    }
    return headers;
  }

  private readBody(status: number, headers: Map<string, string>, from: number): boolean {
    const isHead = this.isHead(this.answers.length);
    const written = headers.get('content-length') ?? (isHead ? '0' : '');
    if (!/^\d+$/.test(written) || headers.has('transfer-encoding')) {
      this.fault = `${status} without a length`;
      return false;
    }
    const to = from + (isHead ? 0 : Number(written));
    if (this.rest.length < to) return false;
    this.answers.push({ status, headers, body: this.rest.subarray(from, to) });
    this.rest = this.rest.subarray(to);
    return true;
  }
}
