import {
  classOf,
  type FieldError,
  type FieldSchema,
  schemasOf,
  type TextKind,
  type ValueSchema,
} from '../api/field-rules';
import { MAX_LENGTH } from '../api/fields';
import { isCalendarDay, toUtc } from '../api/text';
import type { Class } from './dataset';
import { MOMENT } from '../csv/date-times';

/** What a field must hold, in words: `"x" is no NOUN; wanted EXPECTED`. */
interface Expectation {
  noun: string;
  expected: string;
}

const TEXTS: Record<Exclude<TextKind, 'text'>, Expectation> = {
  uuid: { noun: 'uuid', expected: '7c9e6679-7425-40de-944b-e07fc1f90ae7 or another uuid' },
  date: { noun: 'day', expected: '2026-05-04' },
  'date-time': { noun: 'date-time', expected: MOMENT },
  email: { noun: 'e-mail address', expected: 'name@example.com' },
  time: { noun: 'time', expected: '09:30:00' },
};

/** @param kind of the text, or of each text of the list */
function describeExpected(schema: ValueSchema, kind: TextKind): Expectation {
  const { type, isArray, items, minimum = 0, maximum, maxItems = 0, maxLength = 0, pattern } = schema;
  if (isArray || items) {
    const entries = items ? `texts (${describeExpected(items, kind).expected})` : 'objects';
    return { noun: 'such list', expected: `a list of at most ${maxItems} ${entries}` };
  }
  if (typeof type === 'function') {
    return { noun: 'object', expected: `an object of ${[...schemasOf(type()).keys()].join(', ')}` };
  }
  if (schema.enum) return { noun: 'such value', expected: `one of ${schema.enum.join(', ')}` };
  if (type === 'boolean') return { noun: 'yes or no', expected: 'true or false' };
  if (type === 'integer') return { noun: 'such number', expected: `a whole number from ${minimum} to ${maximum}` };
  if (kind !== 'text') return TEXTS[kind];
  const blank = pattern ? ', not blank' : '';
  return { noun: 'such text', expected: `text of at most ${maxLength} characters${blank}, without NUL` };
}

const isTime = ({ kind }: FieldSchema): boolean => kind === 'date' || kind === 'date-time';

/** What is wrong with a field, to be read after its value, and what was expected. */
export function describeError({ value, schema, isDuplicate }: FieldError): { says: string; wanted: string } {
  if (isDuplicate) return { says: 'is in the list twice', wanted: 'entries that differ' };
  const valueSchema = schema.items && !Array.isArray(value) ? schema.items : schema;
  const { noun, expected } = describeExpected(valueSchema, schema.kind);
  if (value === undefined || value === null) return { says: `missing; wanted ${expected}`, wanted: expected };
  if (isTime(schema) && (isCalendarDay(value) || toUtc(value) !== undefined)) {
    return { says: 'is before its start', wanted: 'a time after its start' };
  }
  if (typeof value === 'string' && (schema.maxLength ?? Infinity) < value.length) {
    return { says: `is too long; wanted ${expected}`, wanted: expected };
  }
  return { says: `is no ${noun}; wanted ${expected}`, wanted: expected };
}

/** The paths of the fields of a class, those of its objects among them. */
export function pathsOf(type: Class, before = ''): string[] {
  return [...schemasOf(type)].flatMap(([name, schema]) => {
    const inner = classOf(schema);
    return [before + name, ...(inner && !schema.isArray ? pathsOf(inner, `${before}${name}.`) : [])];
  });
}

/**
 * Names are compared by letters and digits, if they have any: `First name` is `firstName`. A name that is longer than any
 * field's stays as it is, because `normalize()` takes quadratic time over a run of combining marks.
 */
export function normalizedName(name: string): string {
  if (name.length > MAX_LENGTH.name) return name.trim();
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
}

/** What somebody may have meant: of the plain names, with what they stand for, the closest with few other letters. */
export function closestName(name: string, candidates: Iterable<[plain: string, value: string]>): string | undefined {
  const plain = normalizedName(name);
  const most = Math.max(1, Math.floor(plain.length / 5));
  let best: { value: string; distance: number } | undefined;
  for (const [other, value] of candidates) {
    if (Math.abs(other.length - plain.length) > most) continue;
    const distance = editDistance(plain, other);
    if (distance <= most && distance < (best?.distance ?? Infinity)) best = { value, distance };
  }
  return best?.value;
}

/** Letters to add, remove, replace, or exchange with the next one (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let at = 1; at <= other.length; at++) {
      const cost = one[row - 1] === other[at - 1] ? 0 : 1;
      next[at] = Math.min((last?.[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last?.[at - 1] ?? 0) + cost);
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isSwapped) next[at] = Math.min(next[at] ?? 0, (before?.[at - 2] ?? 0) + 1);
    }
    [before, last] = [last, next];
  }
  return last?.[other.length] ?? 0;
}
