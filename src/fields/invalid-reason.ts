import { isBlank, isStorableText, isWithinLength } from './text';

/**
 * Why a value is invalid, as the rule says that rejects it. Responses (`http/pipeline/fault-reason.ts`) and the messages of
 * imports (`exchange/datasets/expectation.ts`) are made of it.
 */
export type InvalidReason =
  'missing' | 'blank' | 'type' | 'range' | 'too-long' | 'before-start' | 'format' | 'unstorable' | 'duplicate';

/**
 * Why a value is no text of its kind. Only a rule that has rejected the value asks, so that valid ones do not pay for it.
 * @param maxLength where the kind has no length of its own, as IDs and dates have
 */
export function invalidTextReason(value: unknown, maxLength = Infinity): InvalidReason {
  if (value === undefined || value === null) return 'missing';
  if (typeof value !== 'string') return 'type';
  if (!isStorableText(value)) return 'unstorable';
  if (isBlank(value)) return 'blank';
  return isWithinLength(value, maxLength) ? 'format' : 'too-long';
}
