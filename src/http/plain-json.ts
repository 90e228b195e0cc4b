/** Deeper values could exhaust the stack of code that walks them. */
const DEEPEST = 32;

/** Names by which code that copies objects is led to take data for a class. No resource has a field of such a name. */
const MISLEADING = ['__proto__', 'constructor', 'prototype'];

/**
 * Makes a parsed JSON value safe for code that walks and copies it: removes the fields whose names mislead such code.
 * @returns false when the value is nested more than 32 levels deep
 */
export function makePlain(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((inner) => makePlain(inner, levels - 1));
  for (const name of MISLEADING) {
    if (Object.hasOwn(value, name)) Reflect.deleteProperty(value, name);
  }
  // for-in and no Object.values: this walks every record of an import, and parsed JSON inherits nothing enumerable
  for (const name in value) {
    if (!makePlain((value as Record<string, unknown>)[name], levels - 1)) return false;
  }
  return true;
}
