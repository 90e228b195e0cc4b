import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Schema } from '../../support/description';
import type { Random } from '../support/random';
import { brokenFields, membersOf, objectOf, validFields, words } from './values';

/** A body that the API must refuse whatever else the request says. */
export interface BrokenBody {
  label: string;
  bytes: Buffer;
  encoding?: string;
  statuses: number[];
}

type Breaker = (random: Random, schema: Schema) => BrokenBody;

const MAX_BYTES = 1_048_576;

const refused = (label: string, body: string | Buffer): BrokenBody => ({
  label: `body: ${label}`,
  bytes: Buffer.from(body as string),
  statuses: [400],
});

const UNKNOWN_FIELDS = words('"__proto__":{"polluted":1} "constructor":1 "then":null "toJSON":["x"] "length":1 "x":{}');

const fields: Breaker = (random, schema) => {
  const members = membersOf(brokenFields(random, schema));
  return refused('a field', `{${[...random.some(UNKNOWN_FIELDS, random.below(3)), ...members].join()}}`);
};

const NO_JSON =
  words(`{ [ " [] [{}] null 1 "x" true NaN {"a":NaN} {'a':1} {}//x {}{} {"a":1,} {"a":01} {"a":+1} {"a":.5}
  {"a":0x1} {"a"} {a:1} {,} {"a":"\\x"} {"a":"\\u12"} {"a":undefined} <a/> a=1&b=2 \0 {"\0":1} )]}',{} {"a":1}\0 -`);

const syntax: Breaker = (random, schema) => {
  const whole = objectOf(validFields(random, schema));
  const text = random.pick([
    random.pick(NO_JSON),
    '{"a":"\n"}',
    whole.slice(0, random.between(1, whole.length - 1)),
    whole + random.pick(['}', ',', 'x', '{}', '\0', '//', '\u2028', '\ufeff']),
    random.pick(['[', ',', 'x', '\0', '\u00a0', '/**/']) + whole,
  ]);
  return refused('not JSON', text);
};

const NO_UTF8 = words('ff c0af eda080 f4908080 e282 80 fe f8888080').map((hex) => Buffer.from(hex, 'hex'));

const encoding: Breaker = (random, schema) => {
  const whole = Buffer.from(objectOf(validFields(random, schema)));
  const at = random.between(1, whole.length - 1);
  const wide = Buffer.from(whole.toString(), 'utf16le');
  const bytes = random.pick([
    Buffer.concat([whole.subarray(0, at), random.pick(NO_UTF8), whole.subarray(at)]),
    Buffer.concat([Buffer.from('fffe', 'hex'), wide]),
    wide,
    random.bytes(random.between(1, 200)),
  ]);
  return refused('not UTF-8', bytes);
};

const depth: Breaker = (random) => {
  const levels = random.pick([33, 34, 64, 100, 1000, 5000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  // The limits of depth and of the number of values may both be exceeded.
  const body = refused('depth', `{"x":${open.repeat(levels)}1${close.repeat(levels)}}`);
  return { ...body, statuses: [400, 413] };
};

/** Past the limit, with a valid body in it. */
const size: Breaker = (random, schema) => {
  const whole = objectOf(validFields(random, schema));
  const bytes = Buffer.from(whole.padEnd(MAX_BYTES + random.pick([1, 2, 1000, 100_000])));
  return { label: 'body: size', bytes, statuses: [413] };
};

const CODERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const NAMES = Object.keys(CODERS) as (keyof typeof CODERS)[];
const blank = Buffer.alloc(32 << 20, 32);
/** made once: each unpacks to 32 MiB */
const BOMBS = { gzip: gzipSync(blank), deflate: deflateSync(blank), br: brotliCompressSync(blank) };

const bomb: Breaker = (random) => {
  const name = random.pick(NAMES);
  return { label: 'body: bomb', bytes: BOMBS[name], encoding: name, statuses: [413] };
};

const coding: Breaker = (random, schema) => {
  const name = random.pick(NAMES);
  const plain = random.pick([syntax, fields, encoding])(random, schema).bytes;
  const coded = CODERS[name](plain);
  const [encodingName, bytes] = random.pick<[string, Buffer]>([
    [name, plain],
    [name, coded],
    [name, coded.subarray(0, random.between(1, coded.length - 1))],
    [name, Buffer.concat([coded, random.bytes(20)])],
    [name, random.bytes(100)],
    [random.pick(['zstd', 'compress', 'x'.repeat(300), 'gzip, gzip', 'gzip;q=1', 'identity', 'GZIP', '*']), plain],
  ]);
  return { ...refused('coding', bytes), encoding: encodingName };
};

/** Most often a field; the large ones are rare, because each costs as much as a hundred others. */
const BREAKERS = [
  ...Array<Breaker[]>(20).fill([fields, fields, syntax]).flat(),
  ...Array<Breaker[]>(6).fill([depth, encoding, coding, coding]).flat(),
  size,
  bomb,
];

export const brokenBody: Breaker = (random, schema) => random.pick(BREAKERS)(random, schema);
