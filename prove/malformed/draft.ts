import { brokenBody } from './bodies';
import { Operation } from './description';
import { Random } from './random';
import { BROKEN_FORMATS, jsonOf, validObject } from './values';
import { World } from './world';

/**
 * A request that can be written as HTTP. It changes nothing: it reads, or its key, its id or its body is certainly not
 * valid, and what is added later takes none of that back.
 */
export interface Draft {
  operation: Operation;
  method: string;
  segments: string[];
  query: string[];
  headers: [string, string][];
  body?: Buffer;
  /** the statuses that are right; empty: any below 500, and 200 only for a read */
  statuses: readonly number[];
  /** what is wrong with it */
  labels: string[];
  id: string;
  /** whether the head has more bytes than are read */
  isTooLong?: boolean;
}

const UNKNOWN_EVENT = '9007199254740991';

const BROKEN_EVENT_IDS = [
  ...[
    '0',
    '-1',
    '1e3',
    '0x10',
    '1.0',
    '9007199254740993',
    '9223372036854775808',
    '%20',
    '%00',
    '1%00',
    '%zz',
    '%ff',
    '%',
  ],
  ...[
    '1%2F2',
    '%F0%9F%98%80',
    "1'--",
    'NaN',
    'null',
    '+1',
    '%2B1',
    '1%20',
    '1,2',
    '1;x',
    '%D9%A3',
    '[1]',
    '..%2f1',
    '%2e%2e',
  ],
];
const BROKEN_UUIDS = [
  ...(BROKEN_FORMATS.uuid ?? []).map(encodeURIComponent),
  ...['%00', '%c3%28', '%u0041', '..%2f..%2fhealth', '%2e%2e', '%25%30%30', '*', '%5B%5D', "'%20or%201=1", '{{7*7}}'],
  ...['x'.repeat(4000), '01234567-89ab-4def-8123-456789abcdef%00', '01234567-89ab-4def-8123-456789abcdef%0d%0a', '%'],
];
const brokenId = (random: Random, name: string): string =>
  random.pick(name === 'eventId' ? BROKEN_EVENT_IDS : BROKEN_UUIDS);

/** What a request takes from its surroundings. */
export interface Source {
  random: Random;
  world: World;
  operation: Operation;
  id: string;
}

/** A request that keeps to the description, with a key and ids that exist. */
function soundDraft({ random, world, operation, id }: Source): Draft {
  const idOf = (name: string): string => random.pick(world.ids[name] ?? []) ?? random.uuid();
  const draft: Draft = {
    operation,
    method: operation.method,
    segments: operation.template.split('/').map((part) => (part.startsWith('{') ? idOf(part.slice(1, -1)) : part)),
    query: soundQuery(random, operation),
    headers: [
      ['Host', 'lanyard.example'],
      ['x-api-key', world.keys.valid],
      ['X-Request-Id', id],
    ],
    statuses: [200],
    labels: [],
    id,
  };
  if (operation.body) setBody(draft, Buffer.from(jsonOf(validObject(random, operation.body))));
  return draft;
}

function soundQuery(random: Random, { query }: Operation): string[] {
  const values: Record<string, string> = {
    limit: String(random.between(1, 60)),
    offset: String(random.below(3)),
    leadId: random.uuid(),
    eventType: 'NOTE',
    eventUrl: encodeURIComponent('https://example.com/x'),
    q: random.pick(['pumps', '%22', 'or%20-', '%F0%9F%98%80', "'", '%5C', '%26%7C!', ':*', 'a%20or%20or', '%3C->']),
  };
  return query.filter(() => random.chance(0.3)).map(({ name }) => `${name}=${values[name] ?? ''}`);
}

export function setBody(draft: Draft, body: Buffer, encoding?: string): void {
  draft.body = body;
  setHeader(draft, 'Content-Type', 'application/json');
  if (encoding !== undefined) setHeader(draft, 'Content-Encoding', encoding);
}

export function setHeader(draft: Draft, name: string, value: string | undefined): void {
  draft.headers = draft.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase());
  if (value !== undefined) draft.headers.push([name, value]);
}

/** What makes a request one that must be refused. Undefined where the operation has nothing of the kind. */
type Ward = (draft: Draft, source: Source) => boolean;

const noKey: Ward = (draft, { random }) => {
  setHeader(draft, 'x-api-key', random.pick([undefined, '', ' ', '\t \t']));
  draft.statuses = [401];
  draft.labels.push('key: missing');
  return true;
};

const badKey: Ward = (draft, { random, world }) => {
  const { valid, revoked } = world.keys;
  const last = valid.slice(-1) === 'a' ? 'b' : 'a';
  const keys = [
    ...['x', 'lan_', revoked, valid.slice(0, -1), valid.slice(0, -1) + last, `${valid}x`, valid.toUpperCase()],
    ...[`Bearer ${valid}`, `"${valid}"`, `${valid},${valid}`, valid.slice(4), '\xff\xfe', 'null', 'x'.repeat(4000)],
    ...["' or 1=1 --", '{"$ne":""}', '__proto__', 'constructor', `lan_${random.text(49)}`],
  ];
  setHeader(draft, 'x-api-key', random.pick(keys));
  draft.statuses = [403];
  draft.labels.push('key: bad');
  return true;
};

const twoKeys: Ward = (draft, { random, world }) => {
  setHeader(draft, 'x-api-key', undefined);
  const others = [world.keys.valid, 'x', world.keys.revoked];
  const names = ['x-api-key', 'X-API-Key', 'X-Api-Key'];
  for (const key of random.some([world.keys.valid, random.pick(others)], 2))
    draft.headers.push([random.pick(names), key]);
  draft.statuses = [403];
  draft.labels.push('key: twice');
  return true;
};

const emptyBucket: Ward = (draft, { world }) => {
  setHeader(draft, 'x-api-key', world.keys.empty);
  draft.statuses = [429];
  draft.labels.push('key: no token');
  // Only where it would not matter if a token were there: a read, or an id that nobody has.
  return draft.method === 'GET' || unknownId(draft);
};

/** Puts an id that no record has in the place of the last one. */
function unknownId(draft: Draft, value = ''): boolean {
  const parts = draft.operation.template.split('/');
  const at = parts.findLastIndex((part) => part.startsWith('{'));
  if (at < 0) return false;
  draft.segments[at] = value || (parts[at] === '{eventId}' ? UNKNOWN_EVENT : '01234567-89ab-4def-8123-456789abcdef');
  return true;
}

const unknown: Ward = (draft) => {
  draft.statuses = [404];
  draft.labels.push('id: unknown');
  return unknownId(draft);
};

const foreign: Ward = (draft, { random, world }) => {
  const name = draft.operation.path.at(-1)?.name ?? '';
  const ids = world.foreign[name];
  draft.statuses = [404];
  draft.labels.push("id: another organization's");
  return ids !== undefined && unknownId(draft, random.pick(ids));
};

const badId: Ward = (draft, { random }) => {
  const { path } = draft.operation;
  if (path.length === 0) return false;
  const { name } = random.pick(path);
  const at = draft.operation.template.split('/').indexOf(`{${name}}`);
  draft.segments[at] = brokenId(random, name);
  draft.statuses = [400];
  draft.labels.push('id: malformed');
  return true;
};

export const BROKEN_IDEMPOTENCY_KEYS = ['', ' ', 'x'.repeat(256), '\xe9', 'a b', 'x\ty', 'one, two', '"'.repeat(300)];

const badIdempotencyKey: Ward = (draft, { random }) => {
  setHeader(draft, 'Idempotency-Key', random.pick(BROKEN_IDEMPOTENCY_KEYS));
  draft.statuses = [400];
  draft.labels.push('idempotency key: malformed');
  return ['POST', 'PATCH'].includes(draft.method);
};

const badBody: Ward = (draft, { random }) => {
  if (!draft.operation.body) return false;
  const { label, bytes, encoding, statuses } = brokenBody(random, draft.operation.body);
  setBody(draft, bytes, encoding);
  draft.statuses = statuses;
  draft.labels.push(label);
  return true;
};

/** With a content type that is not JSON a body counts as empty; then a field must be missing. */
const badType: Ward = (draft, { random }) => {
  if (!draft.operation.body?.required) return false;
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    ';;;',
    '',
  ];
  const more = [
    'application/xml',
    'application/jsonx',
    'application/octet-stream',
    '*/*',
    'application/json, x',
    '\xff',
  ];
  setHeader(draft, 'Content-Type', random.pick([...types, ...more, undefined]));
  draft.statuses = [400];
  draft.labels.push('content type');
  return true;
};

const BROKEN_NUMBERS = [
  ...[
    '',
    '%20',
    '%205',
    '1e1',
    '0x10',
    '-1',
    '%2B1',
    '+1',
    '1.5',
    'NaN',
    'Infinity',
    'null',
    '1%00',
    '%F0%9F%98%80',
    '%ff',
  ],
  ...['1,2', '%zz', '%D9%A3', '[]', '{}', '__proto__', '1_000', '1n', "1'", '--'],
];
const BROKEN_QUERIES: Record<string, string[]> = {
  limit: [...BROKEN_NUMBERS, '0', '00'],
  offset: [...BROKEN_NUMBERS, '2147483648', '9223372036854775808', '1'.repeat(400)],
  leadId: BROKEN_UUIDS.filter((value) => value !== ''),
  eventType: ['', 'note', 'NOTE%00', 'BOGUS', '__proto__', 'constructor', 'NOTE%20', 'toString', '%4eOTE%'],
  eventUrl: ['%00', 'https://x.example/%00'],
  q: ['%00', 'a%00b', '%00%00'],
};

const badQuery: Ward = (draft, { random }) => {
  const { query } = draft.operation;
  if (query.length === 0) return false;
  const { name } = random.pick(query);
  // Beside `eventUrl`, `q` is ignored, whatever it is.
  const without = name === 'q' ? ['q', 'eventUrl'] : [name];
  draft.query = draft.query.filter((each) => !without.some((parameter) => each.startsWith(`${parameter}=`)));
  const broken = random.pick(BROKEN_QUERIES[name] ?? ['']);
  draft.query.push(...(random.chance(0.2) ? [`${name}=1`, `${name}=1`] : [`${name}=${broken}`]));
  draft.statuses = [400];
  draft.labels.push('query');
  return true;
};

const WARDS: Ward[] = [noKey, badKey, twoKeys, emptyBucket, unknown, foreign, badId, badType, badIdempotencyKey];
const FREQUENT: Ward[] = [badBody, badQuery];

/** A sound request that is spoilt in one way, or is a read. */
export function draw(source: Source): Draft {
  const { random } = source;
  for (;;) {
    const draft = soundDraft(source);
    if (draft.method === 'GET' && random.chance(0.2)) return { ...draft, statuses: [200, 404], labels: ['a read'] };
    const ward = random.chance(0.5) ? random.pick(FREQUENT) : random.pick(WARDS);
    if (ward(draft, source)) return draft;
  }
}
