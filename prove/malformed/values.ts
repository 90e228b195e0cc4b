import { Schema, typesOf } from './description';
import { Random } from './random';

/** JSON text that no value stands for, such as 1e400. */
class Raw {
  constructor(readonly text: string) {}
}

/** As JSON.stringify, but raw texts stand as they are, and `__proto__` is a key like any other. */
export function jsonOf(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}:${jsonOf(each)}`)
    .join(',')}}`;
}

type Fields = Record<string, unknown>;

/** A value as the schema wants it. */
function validValue(random: Random, schema: Schema, name = ''): unknown {
  const types = typesOf(schema);
  if (types.includes('null') && random.chance(0.2)) return null;
  if (schema.enum) return random.pick(schema.enum);
  switch (types[0] ?? 'string') {
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
    case 'number':
      return random.between(1, 1000);
    case 'array':
      return Array.from({ length: random.below(4) }, () => validValue(random, schema.items ?? {}));
    case 'object':
      return validObject(random, schema);
    default:
      return validText(random, schema, name);
  }
}

export function validObject(random: Random, { properties = {}, required = [] }: Schema): Fields {
  const there = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.4));
  return Object.fromEntries(there.map(([name, schema]) => [name, validValue(random, schema, name)]));
}

/** What a text is; a pattern says it where the format of that name refuses some of what is taken. */
function formatOf({ format, pattern = '' }: Schema): string {
  if (format) return format;
  if (pattern.includes('@')) return 'email';
  return pattern.includes('T') ? 'date-time' : '';
}

function validText(random: Random, schema: Schema, name: string): string {
  const format = formatOf(schema);
  // an end is never before a start
  const year = name === 'endDate' ? 2027 : 2026;
  if (format === 'date') return `${year}-0${random.between(1, 9)}-1${random.below(10)}`;
  if (format === 'date-time') return `${year}-0${random.between(1, 9)}-1${random.below(10)}T09:30:00Z`;
  if (format === 'email') return `${random.text(8)}@example.com`;
  if (format === 'uuid') return random.uuid();
  return random.pick(['Ada', 'Łódź', '😀 b', "O'Neil", '<b>', '${7*7}', '../x', random.text(20)]);
}

/** Texts of which none has the format. */
export const BROKEN_FORMATS: Record<string, string[]> = {
  email: ['x', 'a@b', '@', 'a@b@c.example', 'a b@c.example', '<a@b.example>', 'a@b.example\n', 'a@[1.2.3.4', '.@b.c'],
  uuid: [
    ...['x', '0', 'null', 'undefined', '00000000-0000-0000-0000-00000000000', '{01234567-89ab-4def-8123-456789abcdef}'],
    ...['01234567-89ab-4def-8123-456789abcdeg', '0123456789ab4def8123456789abcdef', ' ', '__proto__', 'constructor'],
    'urn:uuid:01234567-89ab-4def-8123-456789abcdef',
  ],
  date: [
    ...['2024-02-30', '2023-02-29', '2024-W05', '2024', '20240101', '2024-1-1', '0000-01-01', '+002024-01-01', 'now'],
    ...[
      '2024-01-01T00:00:00Z',
      ' 2024-01-01',
      '2024-01-01\n',
      '2024-00-10',
      '2024-13-01',
      '-001-01-01',
      '２０２４-01-01',
    ],
  ],
  'date-time': [
    ...['2024-02-30T00:00:00Z', '2024-01-01T25:00:00Z', '2024-01-01T00:00:00', '2024-01-01T00:00:60Z', 'now', '1e3'],
    ...[
      '2024-01-01 00:00:00Z',
      '2024-01-01T00:00:00+25:00',
      '2024-W05',
      '0000-01-01T00:00:00Z',
      'infinity',
      '1704067200',
    ],
    ...['2024-01-01T00:00:00.0000000001Z', '0001-01-01T00:00:00+23:59', '9999-12-31T23:59:59-23:59'],
  ],
};

const NO_TEXT = [
  0,
  -1,
  1e308,
  true,
  false,
  {},
  [],
  [[]],
  ['x'],
  { toJSON: 1 },
  { length: 1 },
  { then: 1 },
  new Raw('1e400'),
];
const NO_INTEGER = ['5', '', 1.5, -1, 2_147_483_648, 9_007_199_254_740_992, true, [], [[]], {}, new Raw('-1e400')];
const NO_BOOLEAN = ['true', '', 0, 1, [], [[]], {}, 'no', new Raw('1e400')];
const NO_ARRAY = [{}, 'x', '', 0, 1, true, { length: 1 }, { 0: 'x', length: 1 }];
const NO_OBJECT = [[], [[]], 'x', '', 0, 1, true, [{}]];
const UNSOUND = ['a\0b', '\0', '\ud800', 'x\udc00', '\udc00\ud800'];

/** A value that the schema refuses, whatever stands beside it. */
function brokenValue(random: Random, schema: Schema): unknown {
  const types = typesOf(schema);
  if (!types.includes('null') && random.chance(0.1)) return null;
  if (schema.enum) return brokenEnum(random, schema.enum);
  switch (types[0] ?? 'string') {
    case 'boolean':
      return random.pick(NO_BOOLEAN);
    case 'integer':
    case 'number':
      return random.pick(NO_INTEGER);
    case 'array':
      return brokenArray(random, schema);
    case 'object':
      return random.chance(0.4) ? random.pick(NO_OBJECT) : brokenObject(random, schema);
    default:
      return brokenText(random, schema);
  }
}

const brokenEnum = (random: Random, values: string[]): unknown =>
  random.pick([
    ...['BOGUS', '', '__proto__', 'constructor', 'toString', 'hasOwnProperty', `${values[0]}\0`, `${values[0]} `],
    ...[values[0]?.toLowerCase(), [values[0]], ...NO_TEXT],
  ]);

function brokenText(random: Random, schema: Schema): unknown {
  const { minLength = 0, maxLength } = schema;
  const kinds: (() => unknown)[] = [() => random.pick(NO_TEXT), () => random.pick(UNSOUND)];
  const formats = BROKEN_FORMATS[formatOf(schema)];
  if (formats) kinds.push(() => random.pick(formats));
  if (minLength > 0) kinds.push(() => random.pick(['', ' ', '\t\n', '\u00a0', '\u3000']));
  // longer than any allows, by one character or by many
  if (maxLength) kinds.push(() => random.pick(['x', '😀', '\u0301']).repeat(maxLength + random.pick([1, 1, 2, 500])));
  return random.pick(kinds)();
}

function brokenArray(random: Random, { items = {}, maxItems }: Schema): unknown {
  const valid = validValue(random, items);
  const kinds: (() => unknown)[] = [
    () => random.pick(NO_ARRAY),
    () => [valid, brokenValue(random, items)],
    () => [brokenValue(random, items)],
    () => random.pick([[null], [[]], [[[]]], [[valid]]]),
  ];
  if (maxItems) kinds.push(() => Array<unknown>(maxItems + 1).fill(valid));
  return random.pick(kinds)();
}

/** An object in which one to three fields are wrong or missing. Without a fault to make, it is no object. */
export function brokenObject(random: Random, schema: Schema): unknown {
  const { properties = {}, required = [] } = schema;
  const object = validObject(random, schema);
  for (const name of random.some(Object.keys(properties), random.between(1, 3))) {
    if (required.includes(name) && random.chance(0.25)) Reflect.deleteProperty(object, name);
    else object[name] = brokenValue(random, properties[name] ?? {});
  }
  return object;
}
