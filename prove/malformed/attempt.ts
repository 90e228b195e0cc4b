import { Operation } from './description';
import { Draft, draw, setHeader, Source } from './draft';
import { addNoise } from './noise';
import { Random } from './random';
import { broken } from './broken-http';
import { World } from './world';

/** What one request of an attempt must be answered with. */
export interface Expected {
  /** the statuses that are right; empty: any below 500 */
  statuses: readonly number[];
  /** the answer's X-Request-Id, where the request names it */
  id?: string;
  /** a success is right for a read alone */
  mayRead: boolean;
  /** an answer to HEAD has no body */
  isHead: boolean;
  /** HTTP that cannot be read has no request that an answer could be named after */
  isRead: boolean;
}

/** How an attempt leaves its connection. */
type Ending =
  /** open: the next attempt uses it */
  | 'open'
  /** the server closes it */
  | 'closed'
  /** the client says that it sends no more, then the server closes it */
  | 'ended'
  /** the client says nothing more, until the server loses patience */
  | 'silent'
  /** the client goes away without waiting for an answer */
  | 'gone';

/** Bytes to send on one connection, and what is to come back. */
export interface Attempt {
  index: number;
  labels: string[];
  pieces: Buffer[];
  answers: Expected[];
  ending: Ending;
}

export interface Grammar {
  operations: Operation[];
  world: World;
  seed: number;
}

/** The attempt of a number: the same one for the same seed and world. */
export function attempt({ operations, world, seed }: Grammar, index: number): Attempt {
  const random = new Random(seed, index);
  const source = (part: number): Source => ({
    random,
    world,
    operation: random.pick(operations),
    id: `f-${seed}-${index}-${part}`,
  });
  const kind = random.below(1000);
  if (kind < 80) return pipeline(index, random, source);
  if (kind < 300) return { index, ...broken(random, world) };
  const draft = drawn(source(0));
  if (kind < 360) return cut(index, random, draft, 'ended');
  if (kind < 400) return cut(index, random, draft, 'gone');
  if (kind < 401) return cut(index, random, draft, 'silent');
  return whole(index, random, draft);
}

function drawn(source: Source): Draft {
  const draft = draw(source);
  addNoise(draft, source);
  return draft;
}

/** After it was written, because a head of 32 KiB and more is not read. */
const expected = ({ statuses, id, method, isTooLong }: Draft): Expected => ({
  statuses: isTooLong ? [...statuses, 431] : statuses,
  id: (!isTooLong && id) || undefined,
  isHead: method === 'HEAD',
  isRead: !isTooLong,
  mayRead: ['GET', 'HEAD'].includes(method),
});

function whole(index: number, random: Random, draft: Draft): Attempt {
  const { labels } = draft;
  const ending = random.chance(0.1) ? 'closed' : 'open';
  const isOld = ending === 'closed' && random.chance(0.3);
  if (isOld) setHeader(draft, 'Connection', undefined);
  if (ending === 'closed' && !isOld) draft.headers.push(['Connection', 'close']);
  const bytes = write(random, draft, isOld ? '1.0' : '1.1');
  return { index, labels, answers: [expected(draft)], ending, pieces: pieces(random, bytes) };
}

/** Some requests at once, of which the last may be broken: the answers keep their order. */
function pipeline(index: number, random: Random, source: (part: number) => Source): Attempt {
  const drafts = Array.from({ length: random.between(2, 8) }, (_, part) => drawn(source(part)));
  const end = random.chance(0.3) ? broken(random, source(0).world) : undefined;
  const bytes = drafts.map((draft) => write(random, draft, '1.1'));
  return {
    index,
    labels: ['pipeline', ...(end?.labels ?? [])],
    answers: [...drafts.map(expected), ...(end?.answers ?? [])],
    ending: end?.ending ?? 'open',
    pieces: [Buffer.concat([...bytes, ...(end?.pieces ?? [])])],
  };
}

/** A request that stops before its end. */
function cut(index: number, random: Random, draft: Draft, ending: Ending): Attempt {
  if (draft.method === 'HEAD') draft.method = 'GET';
  const bytes = write(random, draft, '1.1');
  const until = random.chance(0.1) && ending === 'gone' ? bytes.length : random.between(1, bytes.length - 1);
  const answer = { ...expected(draft), statuses: [...draft.statuses, 400, 408], id: undefined, isRead: false };
  return {
    index,
    labels: [`client: ${ending}`],
    answers: ending === 'gone' ? [] : [answer],
    ending,
    pieces: pieces(random, bytes.subarray(0, until)),
  };
}

/** Parts that are written one after the other, now and then many. */
function pieces(random: Random, bytes: Buffer): Buffer[] {
  if (random.chance(0.85) || bytes.length > 100_000) return [bytes];
  const ends = Array.from({ length: random.between(1, 6) }, () => random.below(bytes.length)).sort((a, b) => a - b);
  return [...ends, bytes.length]
    .map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}

/** bytes; from somewhere here on the limit of 32 KiB may be reached, depending on what it counts */
const LONGEST_HEAD = 31_000;

/** The request as HTTP, its body by its length or in chunks. */
function write(random: Random, draft: Draft, version: string): Buffer {
  const { method, segments, query, headers, body } = draft;
  const target = segments.join('/') + (query.length > 0 ? `?${query.join('&')}` : '');
  const isChunked = version === '1.1' && body !== undefined && random.chance(0.2);
  const framing: [string, string][] = [];
  if (isChunked) framing.push(['Transfer-Encoding', random.pick(['chunked', 'CHUNKED'])]);
  else if (body) framing.push(['Content-Length', String(body.length)]);
  const lines = random
    .some([...headers], headers.length)
    .concat(framing)
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/${version}\r\n${lines.join('')}\r\n`, 'latin1');
  draft.isTooLong ||= head.length > LONGEST_HEAD || lines.length > 990;
  return Buffer.concat([head, isChunked ? chunked(random, body) : (body ?? Buffer.alloc(0))]);
}

function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  const longest = random.pick([100, 1000, 1_000_000]);
  for (let at = 0; at < body.length;) {
    const part = body.subarray(at, at + random.between(Math.min(20, longest), longest));
    const extension = random.pick(['', '', '', ';x', ';x="y"', ';x=y;z']);
    parts.push(Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from('\r\n'));
    at += part.length;
  }
  const trailer = random.pick(['', '', '', 'X-Trailer: x\r\n', 'x-api-key: x\r\n', 'Host: y\r\n']);
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)]);
}
