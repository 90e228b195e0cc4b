/** Why a part of a request was rejected. These are the words of `Lanyard-Fault-Reason`, each with its meaning. */
export const FAULT_REASONS = {
  missing: 'A required value is absent, null or blank.',
  type: 'The value has another JSON type.',
  range: 'The value is out of bounds: a number, a length, a count of entries, or an end before its start.',
  format: 'The value does not have the required form, or is not one of the allowed values.',
  unknown: 'No such parameter, field or preference exists. Only strict requests are rejected for it.',
  duplicate: 'The value occurs more than once, or another record already has it.',
  conflict: 'The part cannot be combined with another part of the request.',
  unsupported: 'The server cannot process it: the content type, the encoding, or a header that has no effect here.',
  syntax: 'The text is not well-formed.',
  'not-found': 'No such path or record exists, or the record belongs to another organization.',
  rejected: 'The API key is unknown, revoked, expired, or sent twice.',
  scope: 'The API key is valid, and its scope does not allow the request. The detail names the scopes that do.',
} as const;

export type FaultReason = keyof typeof FAULT_REASONS;

/** The part of a request for which it was rejected. None of its texts holds a value, which may be personal data. */
export interface Fault {
  /** Names the part for the log and for `Lanyard-Fault`: `query limit`, `path leadId`, `header Host`, `body`. */
  readonly fault: string;
  readonly reason: FaultReason;
  /** Where to look: `repeats leads[0].email` or `needs all`. */
  readonly detail?: string;
}

/** What a caller may add to the reason of a fault. */
export type FaultCause = Pick<Fault, 'reason' | 'detail'>;

/** Whether an error names the part of the request, as each does whose class implements `Fault`. */
export const isFault = (error: unknown): error is Error & Fault =>
  error instanceof Error &&
  'fault' in error &&
  typeof error.fault === 'string' &&
  'reason' in error &&
  Object.hasOwn(FAULT_REASONS, String(error.reason));
