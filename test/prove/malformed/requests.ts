import type { Random } from '../support/random';
import { brokenBody } from './bodies';
import type { Operation } from './description';
import { BROKEN_FORMATS, objectOf, validFields, words } from './values';
import type { World } from './world';

/** A request that changes nothing: it reads, or something of it is certainly not valid. */
export interface Draft {
  operation: Operation;
  method: string;
  segments: string[];
  query: string[];
  headers: [name: string, value: string][];
  body?: Buffer;
  /** what it may be answered with */
  statuses: number[];
  /** what is wrong with it */
  label: string;
  /** X-Request-Id, by which an answer that belongs to another request shows */
  id: string;
}

const UNKNOWN_IDS = { event: '9007199254740991', other: '01234567-89ab-4def-8123-456789abcdef' };

const BROKEN_EVENT_IDS = words(`0 -1 1e3 0x10 1.0 9007199254740993 9223372036854775808 %20 %00 1%00 %zz %ff % 1%2F2 NaN
  %F0%9F%98%80 1'-- null +1 %2B1 1%20 1,2 1;x %D9%A3 [1] ..%2f1 %2e%2e`);
const BROKEN_UUIDS = [
  ...(BROKEN_FORMATS.uuid ?? []).map(encodeURIComponent),
  ...words(`%00 %c3%28 %u0041 ..%2f..%2fhealth %2e%2e %25%30%30 * %5B%5D '%20or%201=1 {{7*7}} %
    01234567-89ab-4def-8123-456789abcdef%00 01234567-89ab-4def-8123-456789abcdef%0d%0a`),
  'x'.repeat(4000),
];
const BROKEN_NUMBERS =
  words(`%20 %205 1e1 0x10 -1 %2B1 +1 1.5 NaN Infinity null 1%00 %F0%9F%98%80 %ff 1,2 %zz %D9%A3 [] {}
  __proto__ 1_000 1n 1' --`);
const BROKEN_QUERIES: Record<string, string[]> = {
  limit: [...BROKEN_NUMBERS, '', '0', '00'],
  offset: [...BROKEN_NUMBERS, '', '2147483648', '9223372036854775808', '1'.repeat(400)],
  leadId: BROKEN_UUIDS,
  eventType: ['', ...words('note NOTE%00 BOGUS __proto__ constructor NOTE%20 toString %4eOTE%')],
  email: ['', '%20', 'x'.repeat(256), 'a%00@b.example'],
  remoteId: ['', '%09', 'x', 'x&integrationType=webhook', `${'x'.repeat(256)}&integrationType=WEBHOOK`],
  integrationType: ['', 'WEBHOOK', 'webhook&remoteId=x', '__proto__&remoteId=x'],
  eventUrl: words('%00 https://x.example/%00'),
  q: words('%00 a%00b %00%00'),
};
const BROKEN_TYPES = [
  ...words('text/plain application/x-www-form-urlencoded json ;;; application/xml application/jsonx */* \xff'),
  '',
  'multipart/form-data; boundary=x',
  'application/json, x',
];
const BROKEN_IDEMPOTENCY_KEYS = ['', ' ', 'x'.repeat(256), '\xe9', 'a b', 'x\ty', 'one, two', '"'.repeat(300)];

export interface Source {
  random: Random;
  world: World;
  operation: Operation;
  id: string;
}

/** A request that keeps to the description, with a key and ids that exist. */
function soundDraft({ random, world, operation, id }: Source): Draft {
  const idOf = (name: string): string => random.pick(world.ids[name] ?? [random.uuid()]);
  const draft: Draft = {
    operation,
    method: operation.method,
    segments: operation.segments.map((part) => (part.startsWith('{') ? idOf(part.slice(1, -1)) : part)),
    query: operation.query.includes('limit') && random.chance(0.5) ? [`limit=${random.between(1, 60)}`] : [],
    headers: [
      ['Host', 'lanyard.example'],
      ['x-api-key', world.keys.valid],
      ['X-Request-Id', id],
    ],
    statuses: [200],
    label: '',
    id,
  };
  if (operation.body) setBody(draft, Buffer.from(objectOf(validFields(random, operation.body))));
  return draft;
}

function setBody(draft: Draft, body: Buffer, encoding?: string): void {
  draft.body = body;
  setHeader(draft, 'Content-Type', 'application/json');
  if (encoding !== undefined) setHeader(draft, 'Content-Encoding', encoding);
}

function setHeader(draft: Draft, name: string, ...values: string[]): void {
  draft.headers = draft.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase());
  for (const value of values) draft.headers.push([name, value]);
}

/** Puts another id in the place of the last one. @returns false when the path has none */
function replaceId(draft: Draft, idOf: (parameter: string) => string | undefined): boolean {
  const { segments } = draft.operation;
  const at = segments.findLastIndex((part) => part.startsWith('{'));
  const id = at < 0 ? undefined : idOf((segments[at] ?? '').slice(1, -1));
  if (id !== undefined) draft.segments[at] = id;
  return id !== undefined;
}

const unknownId = (parameter: string): string => UNKNOWN_IDS[parameter === 'eventId' ? 'event' : 'other'];

/** Makes a request one that must be refused. @returns with what; undefined when it has nothing of the kind */
type Spoil = (draft: Draft, source: Source) => number[] | undefined;

const missingKey: Spoil = (draft, { random }) => {
  setHeader(draft, 'x-api-key', ...random.pick([[], [''], [' '], ['\t \t']]));
  return [401];
};

const wrongKey: Spoil = (draft, { random, world: { keys } }) => {
  const { valid, revoked } = keys;
  const changed = valid.slice(0, -1) + (valid.endsWith('a') ? 'b' : 'a');
  const wrong = [revoked, changed, valid.slice(0, -1), `${valid}x`, valid.toUpperCase(), `"${valid}"`];
  const strange = ['x', 'lan_', `Bearer ${valid}`, `${valid},${valid}`, '\xff\xfe', 'x'.repeat(4000), "' or 1=1"];
  setHeader(draft, 'x-api-key', random.pick([...wrong, ...strange, `lan_${random.text(49)}`]));
  return [403];
};

const twoKeys: Spoil = (draft, { random, world: { keys } }) => {
  setHeader(draft, 'x-api-key', ...random.some([keys.valid, random.pick([keys.valid, 'x', keys.revoked])]));
  return [403];
};

const noToken: Spoil = (draft, { world }) => {
  setHeader(draft, 'x-api-key', world.keys.empty);
  // Only where it would not matter if a token was there.
  return draft.method === 'GET' || replaceId(draft, unknownId) ? [429] : undefined;
};

const idOfNothing: Spoil = (draft) => (replaceId(draft, unknownId) ? [404] : undefined);

const foreignId: Spoil = (draft, { random, world }) =>
  replaceId(draft, (parameter) => world.foreign[parameter] && random.pick(world.foreign[parameter]))
    ? [404]
    : undefined;

const malformedId: Spoil = (draft, { random }) => {
  const idOf = (parameter: string) => random.pick(parameter === 'eventId' ? BROKEN_EVENT_IDS : BROKEN_UUIDS);
  return replaceId(draft, idOf) ? [400] : undefined;
};

const idempotencyKey: Spoil = (draft, { random }) => {
  setHeader(draft, 'Idempotency-Key', random.pick(BROKEN_IDEMPOTENCY_KEYS));
  return ['POST', 'PATCH'].includes(draft.method) ? [400] : undefined;
};

/** A body of another type counts as empty: then a field is missing. */
const contentType: Spoil = (draft, { random }) => {
  setHeader(draft, 'Content-Type', random.pick(BROKEN_TYPES));
  return draft.operation.body?.required ? [400] : undefined;
};

const method: Spoil = (draft, { random }) => {
  draft.method = random.pick(words('OPTIONS TRACE PROPFIND PURGE COPY LOCK SEARCH REPORT M-SEARCH UNLINK SOURCE'));
  if (draft.body) setBody(draft, Buffer.from('{}'));
  return [404];
};

/** Other ways to write a path may lead to the same record. */
const path: Spoil = (draft, { random }) => {
  const at = random.between(1, draft.segments.length - 1);
  const segment = draft.segments[at] ?? '';
  const ends = ['/', '/.', '/..', ';x=y', '%2f', '%00', '.json', '\\'].map((end) => segment + end);
  const others = [segment.toUpperCase(), `.%2f${segment}`, `%${segment}`, 'a/'.repeat(999)];
  draft.segments[at] = random.pick([...ends, ...others]);
  return draft.method === 'GET' ? [200, 400, 404] : undefined;
};

const query: Spoil = (draft, { random }) => {
  const { query: names } = draft.operation;
  if (names.length === 0) return undefined;
  const name = random.pick(names);
  const value = random.pick(BROKEN_QUERIES[name] ?? ['']);
  draft.query = random.chance(0.2) ? [`${name}=1`, `${name}=1`] : [`${name}=${value}`];
  return [400];
};

const body: Spoil = (draft, { random }) => {
  if (!draft.operation.body) return undefined;
  const { label, bytes, encoding, statuses } = brokenBody(random, draft.operation.body);
  setBody(draft, bytes, encoding);
  draft.label = label;
  return statuses;
};

const read: Spoil = (draft) => (draft.method === 'GET' ? [200, 404] : undefined);

const SPOILS: Spoil[] = [
  missingKey,
  wrongKey,
  twoKeys,
  noToken,
  idOfNothing,
  foreignId,
  malformedId,
  idempotencyKey,
  contentType,
  method,
  path,
  read,
  ...Array<Spoil>(12).fill(body),
  ...Array<Spoil>(5).fill(query),
];

const HEADERS = `X-HTTP-Method-Override: DELETE|X-Original-URL: /api/v0/leads|X-Forwarded-For: 127.0.0.1, ::1, x
X-Forwarded-Host: evil.example|Forwarded: for="[::1]";host=\xff|Authorization: Bearer x|Cookie: __proto__=x|If-Match: "x"
Range: bytes=0-1,5-0,-1|If-None-Match: *|Accept: text/html;q=1, */*;q=0|Accept: \xff\xfe|Accept-Encoding: gzip, x;q=NaN
Accept-Charset: utf-16|Origin: null|Referer: javascript:alert(1)|TE: trailers, chunked|Trailer: x-api-key|Via: 1.0 x
Max-Forwards: 0|Content-MD5: x|Date: yesterday|Keep-Alive: timeout=999999999, max=-1|Upgrade: websocket|__proto__: x
constructor: x|x: |!#$%&'*+-.^_\`~: x|x-api_key: x|Expect: tea|Expect: 100-continue|Host-: x|Priority: u=9`
  .split(/[|\n]/)
  .map((line) => line.split(': ') as [string, string]);
const QUERIES = words(`__proto__=1 constructor[prototype]=x = &&& ? x=%ff%fe %zz=1 a[]=1&a[]=2 x=%00 ; x=# % limit%00=x
  LIMIT=x limit[]=x hasOwnProperty=1 x-api-key=x _method=DELETE x=${'y'.repeat(6000)} ${'a['.repeat(500)}=1`);

/** Adds what must make no difference. */
function addNoise(draft: Draft, { random }: Source): void {
  if (random.chance(0.3)) draft.headers.push(...random.some(HEADERS, random.between(1, 4)));
  if (random.chance(0.1)) draft.query.push(random.pick(QUERIES));
  if (random.chance(0.05)) {
    draft.headers.push(...Array.from({ length: 500 }, (): [string, string] => [random.text(3), random.text(4)]));
  }
}

/** A sound request that is spoilt in one way, or is a read. */
export function draw(source: Source): Draft {
  for (;;) {
    const draft = soundDraft(source);
    const spoil = source.random.pick(SPOILS);
    draft.label = spoil.name;
    const statuses = spoil(draft, source);
    if (!statuses) continue;
    addNoise(draft, source);
    return { ...draft, statuses };
  }
}

/** The request as HTTP, its body by its length or in chunks. */
export function write(random: Random, { method, segments, query, headers, body }: Draft): Buffer {
  const target = segments.join('/') + (query.length > 0 ? `?${query.join('&')}` : '');
  const isChunked = body !== undefined && random.chance(0.2);
  const lines = random.some(headers);
  if (isChunked) lines.push(['Transfer-Encoding', 'chunked']);
  else if (body) lines.push(['Content-Length', String(body.length)]);
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${text}\r\n`, 'latin1');
  return Buffer.concat([head, isChunked ? chunked(random, body) : (body ?? Buffer.alloc(0))]);
}

function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  const size = random.pick([100, 1000, 1_000_000]);
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    const extension = random.pick(['', '', ';x', ';x="y"', ';x=y;z']);
    parts.push(Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from('\r\n'));
  }
  const trailer = random.pick(['', '', 'X-Trailer: x\r\n', 'x-api-key: x\r\n', 'Host: y\r\n']);
  return Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)]);
}
