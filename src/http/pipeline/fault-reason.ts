import type { ValidationError } from 'class-validator';
import type { FaultCause, FaultReason } from '../../errors/faults';
import { type FieldError, type FieldSchema, isObject, type ValueSchema } from '../../fields/field-rules';
import { isCalendarDay, isWithinLength, toUtc } from '../../fields/text';

/**
 * Says why a field is invalid. Checks only say that it is, because most requests are valid; the reason is found afterwards
 * from the value and the description of the field.
 */

export function causeOf({ path, value, schema, repeats }: FieldError): FaultCause {
  if (repeats !== undefined) return { reason: 'duplicate', detail: `repeats ${repeats}` };
  return { reason: reasonFor(value, path.endsWith(']') ? schemaOfEntries(schema) : schema) };
}

/** The schema of each entry of a list. */
const schemaOfEntries = (schema: FieldSchema): FieldSchema => ({
  ...schema,
  ...schema.items,
  isArray: false,
  items: undefined,
});

/**
 * The same for a query, whose values are texts.
 * @param sent the query as it was sent
 */
export function causeInQuery(sent: object, error: FieldError): FaultCause {
  const value = (sent as Record<string, unknown>)[error.path];
  if (Array.isArray(value)) return { reason: 'duplicate' };
  if (value === '') return { reason: 'missing' };
  if (typeof value === 'string' && error.schema.type === 'integer') {
    return { reason: /^-?\d+$/.test(value) ? 'range' : 'format' };
  }
  if (typeof value === 'string' && error.schema.type === 'boolean') return { reason: 'format' };
  return causeOf(error);
}

/** Why an invalid value is invalid. */
function reasonFor(value: unknown, schema: FieldSchema): FaultReason {
  if (value === undefined || value === null) return 'missing';
  if (schema.isArray || schema.items) return Array.isArray(value) ? reasonForList(value, schema) : 'type';
  if (!isOfType(value, schema)) return 'type';
  return typeof value === 'string' ? reasonForText(value, schema) : 'range';
}

function reasonForList(entries: unknown[], schema: FieldSchema): FaultReason {
  const { maxItems = Infinity } = schema;
  if (entries.length > maxItems || entries.length === 0) return 'range';
  const reasons = entries.map((entry) => reasonFor(entry, schemaOfEntries(schema)));
  return reasons.find((reason) => reason !== 'format') ?? 'format';
}

function isOfType(value: unknown, { type = 'string' }: ValueSchema): boolean {
  if (typeof type === 'function') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

function reasonForText(value: string, { kind, maxLength = Infinity }: FieldSchema): FaultReason {
  if (!/\S/.test(value)) return 'missing';
  // A date of the right form can only be before the start.
  const isDate = (kind === 'date' && isCalendarDay(value)) || (kind === 'date-time' && toUtc(value) !== undefined);
  return isDate || !isWithinLength(value, maxLength) ? 'range' : 'format';
}

/** The reasons of class-validator's decorators by their names, in the order in which they are looked for. */
const REASONS_BY_CONSTRAINT: [RegExp, FaultReason][] = [
  [/^(isDefined|isNotEmpty|arrayNotEmpty|isNotEmptyObject)$/, 'missing'],
  [/^is(String|Int|Number|Boolean|Array|Object|Instance|NumberString)$/, 'type'],
  [/^(min|max|isLength|arrayMinSize|arrayMaxSize|minLength|maxLength|minDate|maxDate|isPositive|isNegative)$/, 'range'],
  [/^arrayUnique$/, 'duplicate'],
];

/** Why a field is invalid that decorators of class-validator check. */
export function causeOfValidationError({ constraints = {}, value, children }: ValidationError): FaultCause {
  const [nested] = children ?? [];
  const names = Object.keys(constraints);
  if (names.length === 0 && nested) return causeOfValidationError(nested);
  if (value === undefined || value === null) return { reason: 'missing' };
  const found = REASONS_BY_CONSTRAINT.find(([pattern]) => names.some((name) => pattern.test(name)));
  return { reason: found?.[1] ?? 'format' };
}
