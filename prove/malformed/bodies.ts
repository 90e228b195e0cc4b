import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Schema } from './description';
import { Random } from './random';
import { brokenObject, jsonOf, validObject } from './values';

/** A body that the API must refuse whatever else the request says, the headers that it needs, and the answers to it. */
interface BrokenBody {
  label: string;
  bytes: Buffer;
  encoding?: string;
  statuses: readonly number[];
}

type Breaker = (random: Random, schema: Schema) => BrokenBody;

const BAD = [400] as const;
const LARGEST = 1_048_576;

const MISLEADING = ['__proto__', 'constructor', 'prototype', 'then', 'toJSON', 'length', 'hasOwnProperty', 'x'];

/** Fields that no resource has. */
const noise = (random: Random): string[] =>
  random
    .some(MISLEADING, random.below(3))
    .map(
      (name) => `"${name}":${random.pick(['1', 'null', '{"polluted":1}', '{"prototype":{"polluted":1}}', '["x"]'])}`,
    );

const fields: Breaker = (random, schema) => {
  const broken = brokenObject(random, schema);
  const text = isObject(broken) ? merged(noise(random), [innerOf(broken)]) : jsonOf(broken);
  return { label: 'body: a field', bytes: Buffer.from(text), statuses: BAD };
};

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const innerOf = (object: object): string => jsonOf(object).slice(1, -1);

/** One object of many parts, in which a name may stand twice; the later one counts. */
const merged = (...parts: string[][]): string =>
  `{${parts
    .flat()
    .filter((text) => text !== '')
    .join(',')}}`;

/** Every field twice: first as it should be, then as an object of nothing, which no field may be. */
const twice: Breaker = (random, schema) => {
  const empty = Object.keys(schema.properties ?? {}).map((name) => `"${name}":{"__proto__":{"x":1}}`);
  const text = merged([innerOf(validObject(random, schema))], empty);
  return { label: 'body: names twice', bytes: Buffer.from(text), statuses: BAD };
};

const NO_JSON = [
  ...[
    '{',
    '[',
    '"',
    '[]',
    '[{}]',
    'null',
    '1',
    '"x"',
    'true',
    'NaN',
    '{"a":NaN}',
    "{'a':1}",
    '{}//x',
    '{}{}',
    '{"a":1,}',
  ],
  ...[
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":0x1}',
    '{"a"}',
    '{a:1}',
    '{,}',
    '{"a":"\\x"}',
    '{"a":"\\u12"}',
    '{"a":undefined}',
  ],
  ...[
    '<a/>',
    'a=1&b=2',
    '--x\r\n\r\n--x--',
    '\0',
    '{"\0":1}',
    '{"a":"\n"}',
    '{"a":"\t"}',
    ")]}',\n{}",
    '{"a":1}\0',
    '-',
    '{"a":Infinity}',
  ],
];

const syntax: Breaker = (random, schema) => {
  const whole = jsonOf(validObject(random, schema));
  const text = random.pick([
    () => random.pick(NO_JSON),
    () => whole.slice(0, random.between(1, whole.length - 1)),
    () => whole + random.pick(['}', ',', 'x', '{}', '\0', '//', '\u2028', '\ufeff']),
    () => random.pick(['[', ',', 'x', '\0', '\u00a0', '/**/']) + whole,
    () => `{"${random.pick(['\0', '\n', '\x1f'])}${whole.slice(2)}`,
  ])();
  return { label: 'body: not JSON', bytes: Buffer.from(text), statuses: BAD };
};

const NO_UTF8 = ['ff', 'c0af', 'eda080', 'f4908080', 'e282', '80', 'fe', 'f8888080'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const encodingOfText: Breaker = (random, schema) => {
  const whole = Buffer.from(jsonOf(validObject(random, schema)));
  const at = random.between(1, whole.length - 1);
  const wide = Buffer.from(whole.toString(), 'utf16le');
  const bytes = random.pick([
    () => Buffer.concat([whole.subarray(0, at), random.pick(NO_UTF8), whole.subarray(at)]),
    () => wide,
    () => Buffer.concat([Buffer.from('fffe', 'hex'), wide]),
    () => wide.swap16(),
    () => random.bytes(random.between(1, 200)),
  ])();
  return { label: 'body: not UTF-8', bytes, statuses: BAD };
};

const deep: Breaker = (random) => {
  const levels = random.pick([33, 34, 64, 100, 1000, 5000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"a":', '}]'],
  ] as const);
  const text = `{"x":${open.repeat(levels)}1${random.chance(0.8) ? close.repeat(levels) : ''}}`;
  return { label: 'body: depth', bytes: Buffer.from(text), statuses: BAD };
};

/** One byte and many bytes past the limit, of which some would be a valid body. */
const large: Breaker = (random, schema) => {
  const over = LARGEST + random.pick([1, 2, 1000, 100_000]);
  const whole = jsonOf(validObject(random, schema));
  return { label: 'body: size', bytes: Buffer.from(whole.padEnd(over)), statuses: [413] };
};

const blank = Buffer.alloc(32 << 20, 32);
/** made once: each decompresses to 32 MiB */
const bombs = { gzip: gzipSync(blank), deflate: deflateSync(blank), br: brotliCompressSync(blank) };
const CODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

const bomb: Breaker = (random) => {
  const encoding = random.pick(['gzip', 'deflate', 'br'] as const);
  return { label: 'body: bomb', bytes: bombs[encoding], encoding, statuses: [413] };
};

const coding: Breaker = (random, schema) => {
  const encoding = random.pick(['gzip', 'deflate', 'br'] as const);
  const plain = random.pick([syntax, fields, encodingOfText, deep])(random, schema).bytes;
  const coded = CODERS[encoding](plain);
  const [name, bytes] = random.pick([
    () => [encoding, plain],
    () => [encoding, coded],
    () => [encoding, coded.subarray(0, random.between(1, coded.length - 1))],
    () => [encoding, Buffer.concat([coded, random.bytes(20)])],
    () => [encoding, random.bytes(100)],
    () => [random.pick(['zstd', 'compress', 'x', 'x'.repeat(300), 'gzip, gzip', 'identity, x', 'gzip;q=1']), plain],
    () => [random.pick(['identity', 'IDENTITY', 'GZIP', 'x-gzip', '*']), plain],
  ] as (() => [string, Buffer])[])();
  return { label: 'body: coding', bytes, encoding: name, statuses: BAD };
};

/** What breaks a body, by how often. The large ones are rare, because each costs as much as a hundred others. */
const BREAKERS: Breaker[] = [
  ...Array<Breaker>(40).fill(fields),
  ...Array<Breaker>(6).fill(twice),
  ...Array<Breaker>(18).fill(syntax),
  ...Array<Breaker>(10).fill(encodingOfText),
  ...Array<Breaker>(6).fill(deep),
  ...Array<Breaker>(10).fill(coding),
  large,
  bomb,
];

export const brokenBody: Breaker = (random, schema) => random.pick(BREAKERS)(random, schema);
