import type { ValidationError } from 'class-validator';
import type { FaultCause, FaultReason } from '../../errors/faults';
import type { InnerError } from '../../fields/field-rules';
import type { InvalidReason } from '../../fields/invalid-reason';

/** The word of `Lanyard-Fault-Reason` for each reason that a rule of a field gives. */
const FAULT_REASON_OF: Record<InvalidReason, FaultReason> = {
  missing: 'missing',
  blank: 'missing',
  type: 'type',
  range: 'range',
  'too-long': 'range',
  'before-start': 'range',
  format: 'format',
  unstorable: 'format',
  duplicate: 'duplicate',
};

export const causeOf = ({ reason, repeats }: InnerError): FaultCause => ({
  reason: FAULT_REASON_OF[reason],
  detail: repeats === undefined ? undefined : `repeats ${repeats}`,
});

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
