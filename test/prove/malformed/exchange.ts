import { STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import { Random } from '../support/random';
import { brokenHttp } from './broken-http';
import type { Operation } from './description';
import { type Draft, draw, write } from './requests';
import type { World } from './world';

/** What one request must be answered with. */
interface Expected {
  statuses: number[];
  /** X-Request-Id of the answer; undefined when the request cannot be read */
  id?: string;
}

/** Bytes to send on a connection of their own, and what is to come back before the server closes it. */
export interface Attempt {
  index: number;
  label: string;
  bytes: Buffer;
  answers: Expected[];
  /** whether the client says that it sends no more, or goes away without reading */
  ending?: 'ended' | 'gone';
}

export interface Grammar {
  operations: Operation[];
  world: World;
  seed: number;
}

const expected = ({ statuses, id }: Draft): Expected => ({ statuses, id });

/** The attempt of a number: always the same one for the same seed and world. */
export function attempt({ operations, world, seed }: Grammar, index: number): Attempt {
  const random = new Random(seed, index);
  const drawn = (part = 0): Draft =>
    draw({ random, world, operation: random.pick(operations), id: `f-${seed}-${index}-${part}` });
  const kind = random.below(100);
  if (kind < 30) {
    // Broken HTTP, sometimes after another request: the answers keep their order. A connection has two unanswered ones at most.
    const drafts = Array.from({ length: kind < 8 ? 1 : 0 }, (_, part) => drawn(part));
    const broken = brokenHttp(random, world);
    const bytes = Buffer.concat([...drafts.map((draft) => write(random, draft)), broken.bytes]);
    const answers = [...drafts.map(expected), { statuses: broken.statuses }];
    return { index, label: broken.label, bytes, answers, ending: 'ended' };
  }
  const draft = drawn();
  draft.headers.push(['Connection', 'close']);
  const bytes = write(random, draft);
  if (kind >= 40) return { index, label: draft.label, bytes, answers: [expected(draft)] };
  // A request that stops before its end.
  const half = bytes.subarray(0, random.between(1, bytes.length - 1));
  if (kind < 34) return { index, label: 'client gone', bytes: half, answers: [], ending: 'gone' };
  const answers = [{ statuses: [...draft.statuses, 400, 408] }];
  return { index, label: 'half a request', bytes: half, answers, ending: 'ended' };
}

/** For all answers and the end of the connection: far more than they take. */
const TIMEOUT_MS = 20_000;

/** Sends an attempt to a server on this machine. @returns the answers, and what is not as the contract says */
export async function exchange(
  port: number,
  { bytes, answers, ending }: Attempt,
): Promise<{ statuses: number[]; fault?: string }> {
  const received: Buffer[] = [];
  const how = await new Promise<string>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let end = 'closed';
    const timer = setTimeout(() => socket.destroy(new Error('not closed')), TIMEOUT_MS);
    socket.on('error', ({ message }) => (end = message));
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(end);
    });
    socket.write(bytes, () => void (ending === 'gone' && socket.destroy()));
    if (ending === 'ended') socket.end();
  });
  if (ending === 'gone') return { statuses: [] };
  const { read, fault: unreadable } = readAnswers(Buffer.concat(received));
  const statuses = read.map(({ status }) => status);
  const faults = read.map((answer, n) => (answers[n] ? faultOf(answer, answers[n]) : 'an answer without a request'));
  const isCut = read.length < answers.length && read.at(-1)?.headers.get('connection') !== 'close';
  const missing = isCut ? `${how} after ${read.length} of ${answers.length} answers` : undefined;
  return { statuses, fault: faults.find(Boolean) ?? unreadable ?? missing ?? (how === 'not closed' ? how : undefined) };
}

interface Answer {
  status: number;
  /** by lower-case name */
  headers: Map<string, string>;
  body: string;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/;
const HEADER = /^([A-Za-z][A-Za-z0-9-]*): ([\x20-\x7e]*)$/;

/** Reads answers as strictly as HTTP can be read. */
function readAnswers(bytes: Buffer): { read: Answer[]; fault?: string } {
  const read: Answer[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...lines] = rest.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
    const status = Number(STATUS_LINE.exec(line)?.[1] ?? NaN);
    const pairs = lines.map((each) => HEADER.exec(each)?.slice(1) ?? []);
    const headers = new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]));
    const length = status === 100 ? 0 : Number(headers.get('content-length') ?? NaN);
    const isWhole = headers.size === lines.length && !headers.has('') && rest.length >= end + 4 + length;
    if (Number.isNaN(status) || !isWhole) return { read, fault: `unreadable: ${rest.subarray(0, 200).toString()}` };
    const body = rest.subarray(end + 4, end + 4 + length).toString();
    if (status !== 100) read.push({ status, headers, body });
    rest = rest.subarray(end + 4 + length);
  }
  return { read };
}

const FIELD = /^Missing or invalid '[A-Za-z-]+(\[\d+\])?(\.[A-Za-z]+)?'$/;

/** What is wrong with an answer, or undefined. */
function faultOf({ status, headers, body }: Answer, { statuses, id }: Expected): string | undefined {
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
