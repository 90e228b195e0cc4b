import type { Schema } from '../../support/description';
import type { Random } from '../support/random';
import { typesOf } from './description';

/** JSON texts of valid and of broken values; texts, because some have no value: 1e400, or a name twice. */

type Fields = Record<string, string>;

const json = (value: unknown): string => JSON.stringify(value);

/** Words of a list that is written as one text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

export function validValue(random: Random, schema: Schema, name = ''): string {
  const types = typesOf(schema);
  if (types.includes('null') && random.chance(0.2)) return 'null';
  if (schema.enum) return json(random.pick(schema.enum));
  switch (types[0] ?? '') {
    case 'boolean':
      return json(random.chance(0.5));
    case 'integer':
    case 'number':
      return json(random.between(1, 1000));
    case 'array':
      return `[${Array.from({ length: random.below(4) }, () => validValue(random, schema.items ?? {})).join()}]`;
    case 'object':
      return objectOf(validFields(random, schema));
    default:
      return json(validText(random, formatOf(schema), name));
  }
}

export function validFields(random: Random, { properties = {}, required = [] }: Schema): Fields {
  const there = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.4));
  return Object.fromEntries(there.map(([name, schema]) => [name, validValue(random, schema, name)]));
}

export const membersOf = (fields: Fields): string[] =>
  Object.entries(fields).map(([name, text]) => `${json(name)}:${text}`);

export const objectOf = (fields: Fields): string => `{${membersOf(fields).join()}}`;

/** A pattern says the format where the format of that name refuses some of what is taken. */
function formatOf({ format, pattern = '' }: Schema): string {
  if (format) return format;
  if (pattern.includes('@')) return 'email';
  return pattern.includes('T') ? 'date-time' : '';
}

function validText(random: Random, format: string, name: string): string {
  // An end is never before a start.
  const day = `${name === 'endDate' ? 2027 : 2026}-0${random.between(1, 9)}-1${random.below(10)}`;
  if (format === 'date') return day;
  if (format === 'date-time') return `${day}T09:30:00Z`;
  if (format === 'email') return `${random.text(8)}@example.com`;
  if (format === 'uuid') return random.uuid();
  return random.pick(['Ada', 'Łódź', '😀 b', "O'Neil", '<b>', '${7*7}', '../x', random.text(20)]);
}

/** Texts of which none has the format. */
export const BROKEN_FORMATS: Record<string, string[]> = {
  email: [...words('x a@b @ a@b@c.example <a@b.example> a@[1.2.3.4 .@b.c'), 'a b@c.example', 'a@b.example\n'],
  uuid: words(`x 0 null undefined 00000000-0000-0000-0000-00000000000 {01234567-89ab-4def-8123-456789abcdef} __proto__
    01234567-89ab-4def-8123-456789abcdeg 0123456789ab4def8123456789abcdef urn:uuid:01234567-89ab-4def-8123-456789abcdef`),
  date: [
    ...words(
      '2024-02-30 2023-02-29 2024-W05 2024 20240101 2024-1-1 0000-01-01 +002024-01-01 now 2024-00-10 2024-13-01',
    ),
    '2024-01-01T00:00:00Z',
    ' 2024-01-01',
    '2024-01-01\n',
    '２０２４-01-01',
  ],
  'date-time': [
    ...words('2024-02-30T00:00:00Z 2024-01-01T25:00:00Z 2024-01-01T00:00:00 2024-01-01T00:00:60Z now 1e3 2024-W05'),
    ...words('2024-01-01T00:00:00+25:00 0000-01-01T00:00:00Z infinity 1704067200 0001-01-01T00:00:00+23:59'),
    '2024-01-01 00:00:00Z',
  ],
};

const NO_TEXT = words('0 -1 1e308 true false {} [] [[]] ["x"] {"toJSON":1} {"length":1} {"then":1} 1e400');
const NO_INTEGER = words('"5" "" 1.5 -1 2147483648 9007199254740992 true [] {} -1e400');
const NO_BOOLEAN = words('"true" "" 0 1 [] {} "no" 1e400');
const NO_ARRAY = words('{} "x" "" 0 1 true {"length":1} {"0":"x","length":1}');
const NO_OBJECT = words('[] [[]] "x" "" 0 1 true [{}]');
const NO_MEMBER = words('"BOGUS" "" "__proto__" "constructor" "toString" "hasOwnProperty"');
const UNSOUND = ['a\0b', '\0', '\ud800', 'x\udc00', '\udc00\ud800'].map(json);

/** A value that the schema refuses, whatever is next to it. */
export function brokenValue(random: Random, schema: Schema): string {
  const types = typesOf(schema);
  if (!types.includes('null') && random.chance(0.1)) return 'null';
  if (schema.enum) return random.pick([...NO_MEMBER, ...NO_TEXT, json(`${schema.enum[0]} `)]);
  switch (types[0] ?? '') {
    case 'boolean':
      return random.pick(NO_BOOLEAN);
    case 'integer':
    case 'number':
      return random.pick(NO_INTEGER);
    case 'array':
      return brokenArray(random, schema);
    case 'object':
      return random.chance(0.4) ? random.pick(NO_OBJECT) : objectOf(brokenFields(random, schema));
    default:
      return brokenText(random, schema);
  }
}

function brokenText(random: Random, schema: Schema): string {
  const { minLength = 0, maxLength } = schema;
  const kinds: string[][] = [NO_TEXT, UNSOUND];
  const formats = BROKEN_FORMATS[formatOf(schema)];
  if (formats) kinds.push(formats.map(json));
  if (minLength > 0) kinds.push(['', ' ', '\t\n', '\u00a0', '\u3000'].map(json));
  if (maxLength) kinds.push([json(random.pick(['x', '😀', '\u0301']).repeat(maxLength + random.pick([1, 1, 2, 500])))]);
  return random.pick(random.pick(kinds));
}

function brokenArray(random: Random, { items = {}, maxItems }: Schema): string {
  const valid = validValue(random, items);
  const broken = brokenValue(random, items);
  const kinds = [random.pick(NO_ARRAY), `[${valid},${broken}]`, `[${broken}]`, '[[[]]]', `[[${valid}]]`];
  if (maxItems)
    kinds.push(
      `[${Array<string>(maxItems + 1)
        .fill(valid)
        .join()}]`,
    );
  return random.pick(kinds);
}

/** Fields of which one to three are wrong or missing. */
export function brokenFields(random: Random, schema: Schema): Fields {
  const { properties = {}, required = [] } = schema;
  const fields = validFields(random, schema);
  for (const name of random.some(Object.keys(properties), random.between(1, 3))) {
    if (required.includes(name) && random.chance(0.25)) Reflect.deleteProperty(fields, name);
    else fields[name] = brokenValue(random, properties[name] ?? {});
  }
  return fields;
}
