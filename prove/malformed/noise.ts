import { BROKEN_IDEMPOTENCY_KEYS, Draft, setBody, setHeader, Source } from './draft';
import { Random } from './random';

/** Adds to a request what leaves it one request, with a length that everybody agrees on. */
type Noise = (draft: Draft, source: Source) => void;

const HEADERS: [string, string][] = [
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-HTTP-Method', 'DELETE'],
  ['X-Method-Override', 'PUT'],
  ['X-Original-URL', '/api/v0/leads'],
  ['X-Rewrite-URL', '/health/live'],
  ['X-Forwarded-For', '127.0.0.1, ::1, x'],
  ['X-Forwarded-Proto', 'javascript'],
  ['X-Forwarded-Host', 'evil.example'],
  ['Forwarded', 'for="[::1]";host=\xff'],
  ['Authorization', 'Bearer x'],
  ['Cookie', `${'a=b; '.repeat(300)}__proto__=x`],
  ['Range', 'bytes=0-1,5-0,-1'],
  ['If-None-Match', '*'],
  ['If-Match', '"x"'],
  ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['Accept', 'text/html;q=1, */*;q=0'],
  ['Accept', '\xff\xfe'],
  ['Accept-Encoding', 'gzip, br, x;q=NaN'],
  ['Accept-Charset', 'utf-16'],
  ['Accept-Language', '*'.repeat(500)],
  ['Origin', 'null'],
  ['Referer', 'javascript:alert(1)'],
  ['Access-Control-Request-Method', 'DELETE'],
  ['TE', 'trailers, chunked'],
  ['Trailer', 'x-api-key'],
  ['Max-Forwards', '0'],
  ['Via', '1.0 x, 1.1 y'],
  ['Content-Language', '\x80'],
  ['Content-MD5', 'x'],
  ['Content-Disposition', 'attachment; filename=../../x'],
  ['Date', 'yesterday'],
  ['Keep-Alive', 'timeout=999999999, max=-1'],
  ['Proxy-Connection', 'close'],
  ['Proxy-Authorization', 'Basic eA=='],
  ['Upgrade', 'websocket'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['hasOwnProperty', 'x'],
  ['x', ''],
  ["!#$%&'*+-.^_`|~", 'x'],
  ['x-api_key', 'x'],
  ['Expect', 'tea'],
  ['Host-', 'x'],
  ['Priority', 'u=9'],
];

const headers: Noise = (draft, { random }) => {
  draft.headers.push(...random.some(HEADERS, random.between(1, 4)));
  draft.labels.push('header');
};

const flood: Noise = (draft, { random }) => {
  const count = random.pick([100, 500, 900]);
  draft.headers.push(...Array.from({ length: count }, (): [string, string] => [random.text(3), random.text(4)]));
  draft.labels.push('header: flood');
};

/** More headers than are looked at, of which one could be a second key. */
const greatFlood: Noise = (draft) => {
  draft.headers.unshift(...Array.from({ length: 2100 }, (): [string, string] => ['a', '']));
  draft.statuses = [431];
  draft.isTooLong = true;
  draft.labels.push('header: flood');
};

const requestId: Noise = (draft, { random }) => {
  setHeader(draft, 'X-Request-Id', random.pick(['', ' ', 'x'.repeat(129), '\xe9', 'a b', '<script>', '"', 'x\ty']));
  if (random.chance(0.3)) draft.headers.push(['X-Request-Id', 'one'], ['X-Request-Id', 'two']);
  draft.id = '';
  draft.labels.push('header: request id');
};

/** Where it is not reached: `draft.ts` has it as the fault itself, and what is obeyed would be kept under a sound one. */
const idempotencyKey: Noise = (draft, { random }) => {
  const isRead = ['POST', 'PATCH'].includes(draft.method);
  if (isRead && !draft.statuses.every((each) => [401, 403, 429].includes(each))) return;
  setHeader(draft, 'Idempotency-Key', random.pick(BROKEN_IDEMPOTENCY_KEYS));
  draft.labels.push('header: idempotency key');
};

const contentType: Noise = (draft, { random }) => {
  // A type that cannot be read makes the body count as empty, which some operations would take.
  const { required } = draft.operation.body ?? {};
  if (!draft.body || draft.labels.includes('content type') || (!required && isBodyAtFault(draft))) return;
  const charset = random.pick(['utf-8', 'UTF-16', 'x', '', '"', 'utf-8; charset=utf-16']);
  const type = random.pick(['application/json', 'APPLICATION/JSON', 'application/vnd.api+json']);
  setHeader(draft, 'Content-Type', `${type}; charset=${charset}`);
  if (draft.statuses.includes(413)) draft.statuses = [...draft.statuses, 400];
  draft.labels.push('content type');
};

const isBodyAtFault = ({ labels }: Draft): boolean => labels[0]?.startsWith('body') ?? false;

const expect: Noise = (draft, { random }) => {
  setHeader(draft, 'Expect', random.pick(['100-continue', '100-Continue', '100-continue, x', '200-ok', '']));
  draft.labels.push('expect');
};

const upgrade: Noise = (draft, { random }) => {
  setHeader(draft, 'Connection', random.pick(['Upgrade', 'Upgrade, HTTP2-Settings', 'upgrade, keep-alive']));
  setHeader(draft, 'Upgrade', random.pick(['websocket', 'h2c', 'TLS/1.0', 'x'.repeat(300)]));
  draft.labels.push('upgrade');
};

const QUERIES = [
  ...[
    '__proto__=1',
    'constructor[prototype]=x',
    'toString=x',
    '=',
    '&&&',
    '?',
    'x=%ff%fe',
    '%zz=1',
    'a[]=1&a[]=2',
    'x=%00',
  ],
  ...[
    `x=${'y'.repeat(6000)}`,
    Array(1000).fill('a=1').join('&'),
    `${'a['.repeat(500)}=1`,
    ';',
    'x=#',
    '%',
    'limit%00=x',
  ],
  ...['LIMIT=x', 'limit[]=x', 'limit[a]=x', 'hasOwnProperty=1', 'x-api-key=x', '_method=DELETE'],
];
const query: Noise = (draft, { random }) => {
  draft.query.push(...random.some(QUERIES, random.between(1, 2)));
  draft.labels.push('query: noise');
};

/** Other ways to write the path: it may then be another one, but never one that does something. */
const path: Noise = (draft, { random }) => {
  const at = random.between(1, draft.segments.length - 1);
  const segment = draft.segments[at] ?? '';
  draft.segments[at] = random.pick([
    segment.toUpperCase(),
    `${segment}/`,
    `${segment}/.`,
    `${segment}/..`,
    `${segment};x=y`,
    `${segment}%2f`,
    `${segment}%00`,
    `.%2f${segment}`,
    `${segment}.json`,
    `%${segment}`,
    encodeHex(segment),
    `${segment}\\`,
    'a/'.repeat(1000),
  ]);
  addStatuses(draft);
  draft.labels.push('path');
};

function addStatuses(draft: Draft): void {
  draft.statuses = [...draft.statuses, 400, 404, ...(draft.operation.method === 'GET' ? [200] : [])];
}

const encodeHex = (text: string): string =>
  [...text].map((each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

/** The scheme and the host of a proxy's request stand before the path. */
const absolute: Noise = (draft, { random }) => {
  if (draft.segments[0] !== '') return;
  draft.segments[0] = random.pick(['http://lanyard.example', 'http://evil.example:99999', 'https://u:p@[::1]']);
  addStatuses(draft);
  draft.labels.push('target');
};

const METHODS = [
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'COPY',
  'LOCK',
  'SEARCH',
  'REPORT',
  'M-SEARCH',
  'UNLINK',
  'SOURCE',
];

const method: Noise = (draft, { random }) => {
  draft.method = draft.method === 'GET' && random.chance(0.5) ? 'HEAD' : random.pick(METHODS);
  // Whatever is wrong with the key is found first, then that there is no such method.
  const byKey = draft.statuses.filter((each) => [401, 403, 429].includes(each));
  if (draft.method !== 'HEAD')
    draft.statuses = byKey.length > 0 && !draft.statuses.includes(404) ? byKey : [...byKey, 404];
  if (draft.body && draft.body.length > 1_000_000) draft.statuses = [...draft.statuses, 413];
  draft.labels.push('method');
};

/** A body where none is read. */
const unreadBody: Noise = (draft, { random, world }) => {
  const isUnread = !draft.operation.body || draft.statuses.every((each) => [401, 403, 429].includes(each));
  if (!isUnread || draft.statuses.length === 0) return;
  setBody(
    draft,
    Buffer.from(poison(random, world.keys.valid, world.ids.leadId ?? []).repeat(random.pick([1, 1, 5, 300]))),
  );
  draft.labels.push('body: not read');
};

/** A request that would be obeyed, to be hidden where it must not be found. */
export function poison(random: Random, key: string, leads: string[]): string {
  const head = `Host: x\r\nx-api-key: ${key}\r\n`;
  const lead = '{"createdByEmail":"a@b.example","firstName":"Smuggled","lastName":"x","companyName":"x"}';
  return random.pick([
    `DELETE /api/v0/leads/${random.pick(leads)} HTTP/1.1\r\n${head}\r\n`,
    `POST /api/v0/leads HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${lead.length}\r\n\r\n${lead}`,
  ]);
}

const NOISES: Noise[] = [
  ...[
    headers,
    headers,
    headers,
    headers,
    query,
    query,
    requestId,
    idempotencyKey,
    contentType,
    expect,
    upgrade,
    absolute,
    path,
    path,
  ],
  ...[flood, method, unreadBody, unreadBody],
];

export function addNoise(draft: Draft, source: Source): void {
  const { random } = source;
  const count = random.pick([0, 0, 0, 1, 1, 2]);
  for (const noise of random.some(NOISES, count)) noise(draft, source);
  if (random.chance(0.002)) greatFlood(draft, source);
}
