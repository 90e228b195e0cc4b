import { errorBody, errorText, FAULT } from '../http/errors';
import { IdempotencyConflict } from '../database/errors';
import { bucketHeaders, bucketHeadersIfKnown, everyHeader, headers } from './headers';

/** Every status of an error that operations answer, and what it says of the request. */
const MEANINGS: Record<number, string> = {
  400:
    'A part of the request is missing or not valid. Where the path or the query is at fault, or the body is no JSON ' +
    'object, the error is `Bad Request`; otherwise it names the field (a nested one by its path) or the header. ' +
    '`Lanyard-Fault` names the part in either case.',
  401: 'The header `x-api-key` is missing or blank.',
  403: 'The API key is invalid: unknown, revoked, expired, or sent twice.',
  404: 'The record does not exist, or belongs to another organization.',
  409: 'The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.',
  410:
    'The place of the cursor is no longer kept, or is of another database: one that was restored, say. Begin anew, without ' +
    'a cursor.',
  413: 'The body exceeds 1 MiB (1,048,576 bytes) after decompression, or 20,000 values.',
  422: 'The `Idempotency-Key` was used for another request within the last 24 hours.',
  429:
    "The key's token bucket is empty, or the client's address failed to authenticate too often. Wait for `Retry-After` " +
    'seconds, and longer after each further refusal.',
  500:
    'Server error, or the database connection was lost during a write, which may or may not be stored. The operator ' +
    'finds the cause by the `X-Request-Id`.',
  503:
    'The server is overloaded, its database cannot be reached, or the record is locked (for example by an import). ' +
    'Nothing changed; retry after `Retry-After` seconds.',
};

/** Answers that may come before a key is known, so that there may be no bucket to tell of. */
const MAY_BE_EARLY = [400, 401, 403, 429, 500, 503];

/** Descriptions of errors that say more than their status: a 400 names the invalid field. */
const WORDS: Record<number, string> = { 409: IdempotencyConflict.RUNNING, 422: IdempotencyConflict.USED };

const schema = { $ref: '#/components/schemas/ErrorResponse' };

const errorResponse = (status: number, example = errorBody(status, WORDS[status])) => ({
  description: MEANINGS[status],
  headers: headersOf(status),
  content: { 'application/json': { schema, example } },
});

/** The 400 of an operation, with a field or header that it may name as an example. */
export const badRequest = (field?: string) =>
  errorResponse(400, field === undefined ? errorBody(400) : errorBody(400, `Missing or invalid '${field}'`));

function headersOf(status: number) {
  const bucket = MAY_BE_EARLY.includes(status) ? bucketHeadersIfKnown() : bucketHeaders();
  const wait = [409, 429, 503].includes(status) ? headers('Retry-After') : {};
  const fault = status === 400 ? headers(FAULT) : {};
  return { ...everyHeader(), ...bucket, ...wait, ...fault };
}

const nameOf = (status: number): string => errorText(status).replaceAll(' ', '');

const SHARED = Object.keys(MEANINGS)
  .map(Number)
  .filter((status) => status !== 400);

/** The answers that operations refer to, by their names. */
export const ERROR_COMPONENTS = {
  ...Object.fromEntries(SHARED.map((status) => [nameOf(status), errorResponse(status)])),
  OtherError: {
    description:
      'Any other error, in the same form: 408 if a request takes too long to arrive, 431 if its headers exceed 32 KiB.',
    headers: { ...everyHeader(), ...bucketHeadersIfKnown() },
    content: { 'application/json': { schema, example: errorBody(431) } },
  },
};

const reference = (component: string) => ({ $ref: `#/components/responses/${component}` });

export const errorReference = (status: number) => reference(nameOf(status));
export const OTHER_ERROR = reference('OtherError');
