import { STATUS_CODES } from 'node:http';
import type { Expected } from './attempt';

/** Reads answers as strictly as HTTP can be read, and compares them with the contract. */

interface Answer {
  status: number;
  /** by lower-case name */
  headers: Map<string, string>;
  body: string;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/;
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): ([\x20-\x7e]*)$/;

/** Takes bytes as they come, and gives the answers that are whole. */
export class AnswerReader {
  readonly answers: Answer[] = [];
  /** what cannot be read as an answer */
  fault: string | undefined;
  private rest: Buffer = Buffer.alloc(0);

  add(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    while (this.fault === undefined && this.readOne());
  }

  /** Whether a part of an answer is there. */
  get isPending(): boolean {
    return this.rest.length > 0;
  }

  get saysClose(): boolean {
    return this.answers.at(-1)?.headers.get('connection') === 'close';
  }

  private readOne(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...lines] = this.rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(STATUS_LINE.exec(line)?.[1]);
    const headers = new Map<string, string>();
    for (const each of lines) {
      const [, name = '', value = ''] = HEADER.exec(each) ?? [];
      if (name === '' || headers.has(name.toLowerCase())) this.fault = `header ${JSON.stringify(each)}`;
      headers.set(name.toLowerCase(), value);
    }
    const isContinue = status === 100;
    const length = isContinue ? 0 : Number(headers.get('content-length') ?? NaN);
    if (Number.isNaN(status)) this.fault = `status line ${JSON.stringify(line.slice(0, 100))}`;
    if (Number.isNaN(length)) this.fault = `${status} without a length`;
    const next = end + 4 + length;
    if (this.fault !== undefined || this.rest.length < next) return false;
    if (!isContinue) this.answers.push({ status, headers, body: this.rest.subarray(end + 4, next).toString() });
    this.rest = this.rest.subarray(next);
    return true;
  }
}

const FIELD = /^Missing or invalid '[A-Za-z-]+(\[\d+\])?(\.[A-Za-z]+)?'$/;

/** What is wrong with an answer, or undefined. */
export function faultOf({ status, headers, body }: Answer, { statuses, id }: Expected): string | undefined {
  const named = headers.get('x-request-id');
  if (!statuses.includes(status)) return `status ${status} instead of ${statuses.join(' or ')}`;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return `${status} that is not of type JSON`;
  if (id !== undefined && named !== id) return `${status} named ${named} instead of ${id}`;
  if (status === 429 && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) return '429 without Retry-After';
  if (status === 200 && !headers.has('x-ratelimit-remaining')) return '200 without X-RateLimit-Remaining';
  try {
    const read = JSON.parse(body) as { status: unknown; error: unknown };
    const isKnown = read.error === STATUS_CODES[status] || (status === 400 && FIELD.test(String(read.error)));
    const isRight = status === 200 || (isKnown && Object.keys(read).join() === 'status,error');
    return read.status === status && isRight ? undefined : `${status} with the body ${body.slice(0, 100)}`;
  } catch {
    return `${status} that is not JSON: ${body.slice(0, 100)}`;
  }
}
