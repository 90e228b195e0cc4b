import {
  IdempotencyKeyInUse,
  IdempotencyKeyReused,
  InvalidRequest,
  Overloaded,
  ResponseTooLarge,
  RowNotFound,
  TooManyWebhooks,
  UnstorableField,
} from './exceptions';
import {
  BROKEN_REFERENCE,
  BUSY,
  NO_CONNECTION,
  OUT_OF_RESOURCES,
  type SqlStates,
  UNSTORABLE_VALUE,
} from './sql-state-codes';

/** One way in which a request fails. */
export interface ErrorRow {
  /** HTTP status. */
  status: number;
  /** The exception that stands for the error. A row without it and without `sqlStates` is any other error of its status. */
  type?: abstract new (...values: never[]) => Error;
  /** Errors of PostgreSQL that stand for it. */
  sqlStates?: SqlStates;
  /** Text in the response. By default it is the name of the status. */
  text?: string;
  /** Whether the exception's message is the text. Others may hold personal data or internals. */
  sendsMessage?: boolean;
  /** Seconds until the next attempt, in `Retry-After`; `computed` where the exception's origin sets the header. */
  retryAfter?: number | 'computed';
  /** What the API reference says. The descriptions of one status are joined. */
  description?: string;
}

/** Every error of the API. The filter, the API reference and the database read it. */
export const ERRORS = {
  invalidRequest: {
    status: 400,
    type: InvalidRequest,
    sendsMessage: true,
    description:
      'A part of the request is missing or invalid. If it is the path or the query, or if the body is not a JSON object, ' +
      'the error is `Bad Request`. Otherwise it names the field (a nested one by its path) or the header. ' +
      '`Lanyard-Fault` names the part in every case.',
  },
  unstorableField: { status: 400, type: UnstorableField, sendsMessage: true },
  unstorableValue: { status: 400, sqlStates: UNSTORABLE_VALUE },
  missingKey: { status: 401, description: 'The header `x-api-key` is missing or blank.' },
  invalidKey: {
    status: 403,
    description:
      'The API key is invalid: unknown, revoked, expired, or sent twice. Or its scope does not allow the request, and ' +
      '`Lanyard-Fault-Detail` names the scopes that do.',
  },
  notFound: {
    status: 404,
    type: RowNotFound,
    description: 'The record does not exist, or belongs to another organization.',
  },
  idempotencyKeyInUse: {
    status: 409,
    type: IdempotencyKeyInUse,
    text: 'The first request with this Idempotency-Key is still running',
    retryAfter: 1,
    description:
      'The first request with this `Idempotency-Key` is still running: retry after the seconds given by `Retry-After`. Or the ' +
      'organization has the maximum number of webhooks, and `Retry-After` is absent.',
  },
  tooManyWebhooks: {
    status: 409,
    type: TooManyWebhooks,
    text: 'The organization has the maximum number of webhooks',
  },
  brokenReference: { status: 409, sqlStates: BROKEN_REFERENCE },
  gone: {
    status: 410,
    description:
      'The cursor has expired, or it belongs to another database, such as one that was restored since. Start again ' +
      "without a cursor. Or the response stored for the `Idempotency-Key` was erased with a person's data. Do not retry.",
  },
  bodyTooLarge: {
    status: 413,
    description: 'The body exceeds 1 MiB (1,048,576 bytes) after decompression, or 20,000 values.',
  },
  responseTooLarge: { status: 413, type: ResponseTooLarge },
  idempotencyKeyReused: {
    status: 422,
    type: IdempotencyKeyReused,
    text: 'This Idempotency-Key was used for another request',
    description: 'The `Idempotency-Key` was used for another request within the last 24 hours.',
  },
  tooManyRequests: {
    status: 429,
    retryAfter: 'computed',
    description:
      "The key's token bucket is empty, or the client's address failed to authenticate too often. Wait for " +
      '`Retry-After` seconds, and longer after each further 429.',
  },
  serverError: {
    status: 500,
    description:
      'Server error, or the database connection was lost during a write, which may or may not be stored. The operator ' +
      'finds the cause by the `X-Request-Id`.',
  },
  // Nothing was changed by any of these, and the same request may succeed soon.
  overloaded: {
    status: 503,
    type: Overloaded,
    sqlStates: BUSY,
    retryAfter: 1,
    description:
      'The server is overloaded, its database cannot be reached, or the record is locked (for example by an import). ' +
      'Nothing changed; retry after `Retry-After` seconds.',
  },
  databaseUnreachable: { status: 503, sqlStates: NO_CONNECTION, retryAfter: 1 },
  outOfResources: { status: 503, sqlStates: OUT_OF_RESOURCES, retryAfter: 1 },
  unavailable: { status: 503, retryAfter: 1 },
} satisfies Record<string, ErrorRow>;

/** The rows in the order in which an error is looked for: a special exception stands before the one that it extends. */
export const ERROR_ROWS: readonly ErrorRow[] = Object.values(ERRORS);
