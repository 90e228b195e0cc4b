/** What an error is made of. */
export interface Failure {
  method?: string;
  path?: string;
  attempts: number;
  status?: number;
  fault?: string;
  requestId?: string;
  retryAfter?: number;
  cause?: unknown;
}

/** A call that did not succeed: it was refused, nobody answered, or what the client was given cannot be sent. `message` is the API's own text, if there was one. */
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
  /** the part of the request for which it is a 400: `query limit`, `path leadId`, `body email` */
  readonly fault?: string;
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
    super(message, cause === undefined ? undefined : { cause });
    if (failure.method !== undefined) this.method = failure.method;
    if (failure.path !== undefined) this.path = failure.path;
    this.attempts = failure.attempts;
    if (failure.status !== undefined) this.status = failure.status;
    if (failure.fault !== undefined) this.fault = failure.fault;
    if (failure.requestId !== undefined) this.requestId = failure.requestId;
    if (failure.retryAfter !== undefined) this.retryAfter = failure.retryAfter;
    const field = /^Missing or invalid '(.+)'$/.exec(message)?.[1];
    if (field !== undefined) this.field = field;
  }
}
