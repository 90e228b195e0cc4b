import { classOf, type FieldFault, type FieldSchema, isObject, MAX_LENGTH, schemasOf } from '../api-schema/fields';
import { isCalendarDay, toUtc } from '../api-schema/text';
import type { Class } from './dataset';
import { MOMENT } from './moments';

/** What a field must hold, in words: `"x" is no NOUN; wanted WANTED`. */
export interface Expected {
  noun: string;
  wanted: string;
}

/** The kind of a text, as its check has it. */
export function kindOfText({ format, pattern = '', maxLength }: Omit<FieldSchema, 'required' | 'nullable'>) {
  if (format === 'uuid') return 'uuid';
  if (format === 'date') return 'day';
  if (format === 'date-time' || (pattern.includes('T(') && maxLength === 35)) return 'date-time';
  if (pattern.startsWith('[^@]')) return 'e-mail address';
  return pattern.includes(':[0-5]') ? 'time' : 'text';
}

const TEXTS = {
  uuid: '7c9e6679-7425-40de-944b-e07fc1f90ae7 or another uuid',
  day: '2026-05-04',
  'date-time': MOMENT,
  'e-mail address': 'name@example.com',
  time: '09:30:00',
} as const;

export function expectedOf(schema: Omit<FieldSchema, 'required' | 'nullable'>): Expected {
  const { type, isArray, items, minimum = 0, maximum, maxItems = 0, maxLength = 0, pattern } = schema;
  if (isArray || items) {
    const wanted = `a list of at most ${maxItems} ${items ? `texts (${expectedOf(items).wanted})` : 'objects'}`;
    return { noun: 'such list', wanted };
  }
  if (typeof type === 'function')
    return { noun: 'object', wanted: `an object of ${[...schemasOf(type()).keys()].join(', ')}` };
  if (schema.enum) return { noun: 'such value', wanted: `one of ${schema.enum.join(', ')}` };
  if (type === 'boolean') return { noun: 'yes or no', wanted: 'true or false' };
  if (type === 'integer') return { noun: 'such number', wanted: `a whole number from ${minimum} to ${maximum}` };
  const kind = kindOfText(schema);
  if (kind !== 'text') return { noun: kind, wanted: TEXTS[kind] };
  const blank = pattern ? ', not blank' : '';
  return { noun: 'such text', wanted: `text of at most ${maxLength} characters${blank}, without NUL` };
}

/** What is wrong with a field, after its value, and what was wanted. */
export function told({ value, schema, isRepeated }: FieldFault): { says: string; wanted: string } {
  if (isRepeated) return { says: 'is in the list twice', wanted: 'entries that differ' };
  const { noun, wanted } = expectedOf(schema.items && !Array.isArray(value) ? schema.items : schema);
  if (value === undefined || value === null) return { says: `missing; wanted ${wanted}`, wanted };
  const isLate = schema.type !== 'function' && (isCalendarDay(value) || toUtc(value) !== undefined);
  if (isLate && ['day', 'date-time'].includes(kindOfText(schema))) {
    return { says: 'is before its start', wanted: 'a time after its start' };
  }
  if (typeof value === 'string' && (schema.maxLength ?? Infinity) < value.length) {
    return { says: `is too long; wanted ${wanted}`, wanted };
  }
  return { says: `is no ${noun}; wanted ${wanted}`, wanted };
}

/** Whether a plain object has what its class has not, at any depth. */
export function hasUnknown(type: Class, plain: object): boolean {
  const fields = nestedOf(type);
  for (const name in plain) {
    const inner = fields.get(name);
    if (inner === undefined) return true;
    if (inner === null) continue;
    const value = (plain as Record<string, unknown>)[name];
    if (Array.isArray(value) ? value.some((entry) => isObject(entry) && hasUnknown(inner, entry)) : false) return true;
    if (isObject(value) && hasUnknown(inner, value)) return true;
  }
  return false;
}

/** The paths of what a plain object has that its class has not. */
export function* unknownIn(type: Class, plain: object, before = ''): Generator<string> {
  const fields = nestedOf(type);
  for (const [name, value] of Object.entries(plain)) {
    const inner = fields.get(name);
    if (inner === undefined) yield before + name;
    if (!inner) continue;
    if (isObject(value)) yield* unknownIn(inner, value, `${before}${name}.`);
    for (const [nth, entry] of Array.isArray(value) ? value.entries() : []) {
      if (isObject(entry)) yield* unknownIn(inner, entry, `${before}${name}[${nth}].`);
    }
  }
}

/** The paths of the fields of a class, those of its objects among them. */
export function pathsOf(type: Class, before = ''): string[] {
  return [...schemasOf(type)].flatMap(([name, schema]) => {
    const inner = classOf(schema);
    return [before + name, ...(inner && !schema.isArray ? pathsOf(inner, `${before}${name}.`) : [])];
  });
}

const known = new WeakMap<Class, Map<string, Class | null>>();

/** The fields of a class, with the classes of the objects that they hold. */
function nestedOf(type: Class): Map<string, Class | null> {
  const found =
    known.get(type) ?? new Map([...schemasOf(type)].map(([name, schema]) => [name, classOf(schema) ?? null]));
  known.set(type, found);
  return found;
}

/**
 * Names are compared by letters and digits, if they have any: `First name` is `firstName`. One that is longer than any
 * field's stays as it is: `normalize()` takes quadratic time over a run of combining marks.
 */
export function plainName(name: string): string {
  if (name.length > MAX_LENGTH.name) return name.trim();
  const plain = name.normalize('NFKD').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]/gu, '') || name.trim();
}

/** What somebody may have meant: of the plain names, with what they stand for, the closest with few other letters. */
export function meant(name: string, candidates: Iterable<[plain: string, value: string]>): string | undefined {
  const plain = plainName(name);
  const most = Math.max(1, Math.floor(plain.length / 5));
  let best: { value: string; distance: number } | undefined;
  for (const [other, value] of candidates) {
    if (Math.abs(other.length - plain.length) > most) continue;
    const distance = distanceOf(plain, other);
    if (distance <= most && distance < (best?.distance ?? Infinity)) best = { value, distance };
  }
  return best?.value;
}

/** Letters to add, remove, replace, or exchange with the next one (optimal string alignment). */
function distanceOf(one: string, other: string): number {
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
