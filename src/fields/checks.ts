import { type Check, errorBelow, firstError, type InnerError, isObject, noObjectReason } from './field-rules';
import { invalidTextReason } from './invalid-reason';

/** The checks of the kinds of field. Each gives the reason for which it rejects a value. */

/** The check of a text. Its reason is found once the text is known to be invalid. */
export const textCheck =
  (isValid: (value: unknown) => boolean, maxLength?: number): Check =>
  (value) =>
    isValid(value) ? undefined : invalidTextReason(value, maxLength);

export const numberCheck =
  (isValid: (value: number) => boolean): Check =>
  (value) => {
    if (typeof value !== 'number') return 'type';
    return isValid(value) ? undefined : 'range';
  };

export const isWithin = (value: number, { minimum, maximum }: { minimum: number; maximum: number }): boolean =>
  value >= minimum && value <= maximum;

/** The check of an integer by the limits of its schema. */
export const integerCheck =
  (limits: { minimum: number; maximum: number }): Check =>
  (value) => {
    if (!Number.isInteger(value)) return 'type';
    return isWithin(value as number, limits) ? undefined : 'range';
  };

export const dateCheck =
  (isValid: (value: unknown) => value is string, start?: string): Check =>
  (value, parent) => {
    if (!isValid(value)) return invalidTextReason(value);
    const earliest = start ? parent[start] : undefined;
    return isValid(earliest) && value < earliest ? 'before-start' : undefined;
  };

/** The check of a text by the pattern of its schema. */
export function patternCheck({ pattern }: { pattern: string }): Check {
  const regExp = new RegExp(pattern);
  return textCheck((value) => typeof value === 'string' && regExp.test(value));
}

/** The check of a list whose entries are checked by themselves. */
export const listCheck =
  (min: number, max: number, checkEntries: (entries: unknown[]) => ReturnType<Check>): Check =>
  (value) => {
    if (!Array.isArray(value)) return 'type';
    if (value.length > max || value.length < min) return 'range';
    return checkEntries(value);
  };

/** Names the first invalid entry by its index. */
export const everyEntry = (
  max: number,
  isValid: (value: unknown) => boolean,
  maxLength: number | undefined,
  distinct?: string | true,
): Check =>
  listCheck(0, max, (entries) => {
    const index = entries.findIndex((entry) => !isValid(entry));
    if (index < 0) return findDuplicate(entries, distinct);
    const value = entries[index];
    return { path: `[${index}]`, value, reason: invalidTextReason(value, maxLength) };
  });

export function findDuplicate(entries: unknown[], distinct?: string | true): InnerError | undefined {
  if (!distinct || entries.length < 2) return undefined;
  const keys = distinct === true ? entries : entries.map((entry) => (entry as Record<string, unknown>)[distinct]);
  if (new Set(keys).size === keys.length) return undefined;
  const seen = new Set();
  const second = keys.findIndex((key) => key !== undefined && seen.size === seen.add(key).size);
  if (second < 0) return undefined;
  const pathOf = (index: number): string => (distinct === true ? `[${index}]` : `[${index}].${distinct}`);
  const value = keys[second];
  return { path: pathOf(second), value, reason: 'duplicate', repeats: pathOf(keys.indexOf(value)) };
}

/** Why a value is no valid object: the first error of its fields. */
export function invalidObject(value: unknown): ReturnType<Check> {
  if (!isObject(value)) return noObjectReason(value);
  const error = firstError(value);
  return error && { ...error, path: `.${error.path}`, repeats: error.repeats && `.${error.repeats}` };
}

/** The first error of the objects of a list. */
export function invalidEntry(entries: unknown[]): InnerError | undefined {
  for (const [index, entry] of entries.entries()) {
    const error = invalidObject(entry);
    if (error !== undefined) return errorBelow(`[${index}]`, entry, error);
  }
  return undefined;
}
