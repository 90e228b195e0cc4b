import type { HeaderLanyardFaultReason } from './schema';

/** One word that says why a part of a request was rejected. Later versions of the API may add words. */
export type FaultReason = HeaderLanyardFaultReason;

/** The properties that an error is created from. */
export interface Failure {
  /** The text of the API, if the API sent one. */
  text?: string;
  method?: string;
  path?: string;
  attempts: number;
  status?: number;
  fault?: string;
  reason?: FaultReason;
  detail?: string;
  requestId?: string;
  retryAfter?: number;
  cause?: unknown;
}

/**
 * A call that did not succeed: the API rejected it, there was no response, or its input cannot be sent. `message` is the
 * text of the API, if it sent one, with the status and the cause: `Bad Request (400, query limit: range)`.
 */
export class LanyardError extends Error {
  override readonly name = 'LanyardError';
  /** undefined, as `path` is, when no request was made */
  readonly method?: string;
  /** of the URL, without its query */
  readonly path?: string;
  /** HTTP status; undefined when there was no answer, and `cause` says why */
  readonly status?: number;
  /** the body's field at fault, of a 400 that names one: `email`, `phoneNumbers[0].type` */
  readonly field?: string;
  /** The text of the API alone, if it sent one. */
  readonly text?: string;
  /** The part of the request that caused a 400, 401, 403 or 404: `query limit`, `path leadId`, `body email`. */
  readonly fault?: string;
  /** Why that part caused it, in one word: `missing`, `format`, `duplicate`. */
  readonly reason?: FaultReason;
  /** Where to look: `repeats leads[0].email`, `needs all`. */
  readonly detail?: string;
  /** by which the operator finds the request in the log */
  readonly requestId?: string;
  /** seconds to wait before another try, when the answer said so */
  readonly retryAfter?: number;
  /**
   * How often the request was sent, not counting what an empty bucket refused. A DELETE of which the first answer was lost finds nothing the second time: more than
   * one attempt and a 404 mean that it is gone.
   */
  readonly attempts: number;

  constructor(message: string, { cause, ...failure }: Failure) {
    super(message + causeText(failure), cause === undefined ? undefined : { cause });
    if (failure.method !== undefined) this.method = failure.method;
    if (failure.path !== undefined) this.path = failure.path;
    this.attempts = failure.attempts;
    if (failure.status !== undefined) this.status = failure.status;
    if (failure.text !== undefined) this.text = failure.text;
    if (failure.fault !== undefined) this.fault = failure.fault;
    if (failure.reason !== undefined) this.reason = failure.reason;
    if (failure.detail !== undefined) this.detail = failure.detail;
    if (failure.requestId !== undefined) this.requestId = failure.requestId;
    if (failure.retryAfter !== undefined) this.retryAfter = failure.retryAfter;
    const field = /^Missing or invalid '(.+)'$/.exec(failure.text ?? '')?.[1];
    if (field !== undefined) this.field = field;
  }
}

/** The status and the cause of an error of the API, in parentheses. */
function causeText({ text, status, fault, reason, detail }: Omit<Failure, 'cause'>): string {
  if (text === undefined) return '';
  const part = fault !== undefined && reason !== undefined ? `${fault}: ${reason}` : fault;
  return ` (${[status, part, detail].filter((each) => each !== undefined).join(', ')})`;
}
