import { ERROR_ROWS } from '../errors/error-table';
import { InvalidField } from '../errors/exceptions';
import { errorBody, errorText, FAULT_DETAIL_HEADER, FAULT_HEADER, FAULT_REASON_HEADER } from '../errors/error-response';
import { bucketHeaders, bucketHeadersIfKnown, commonHeaders, headers, retryHeader } from './headers';

/** These statuses may be sent before the key is known, when there is no bucket to fill the rate limit headers from. */
const STATUSES_BEFORE_AUTHENTICATION = [400, 401, 403, 429, 500, 503];

/** The responses with these statuses name the part of the request that they are about. */
const FAULT_STATUSES = [400, 401, 403, 404];

const schema = { $ref: '#/components/schemas/ErrorResponse' };

const rowsOf = (status: number) => ERROR_ROWS.filter((row) => row.status === status);

function errorResponse(status: number, text = rowsOf(status).find((row) => row.text)?.text) {
  const descriptions = rowsOf(status).flatMap(({ description }) => description ?? []);
  return {
    description: descriptions.join(' '),
    headers: headersOf(status),
    content: { 'application/json': { schema, example: errorBody(status, text) } },
  };
}

/** The 400 of an operation, with a field or header that it may name as an example. */
export const badRequest = (field?: string) =>
  errorResponse(400, field === undefined ? undefined : new InvalidField(field, 'missing').message);

function headersOf(status: number) {
  const bucket = STATUSES_BEFORE_AUTHENTICATION.includes(status) ? bucketHeadersIfKnown() : bucketHeaders();
  const waiting = rowsOf(status).filter(({ retryAfter }) => retryAfter !== undefined);
  const wait = waiting.length > 0 ? retryHeader(waiting.length === rowsOf(status).length) : {};
  const fault = FAULT_STATUSES.includes(status) ? headers(FAULT_HEADER, FAULT_REASON_HEADER) : {};
  const detail = [400, 403].includes(status) ? headers(FAULT_DETAIL_HEADER) : {};
  const challenge = status === 401 ? headers('WWW-Authenticate') : {};
  const replayed = status === 410 ? headers('Idempotency-Replayed') : {};
  return { ...commonHeaders(), ...bucket, ...wait, ...fault, ...detail, ...challenge, ...replayed };
}

const nameOf = (status: number): string => errorText(status).replaceAll(' ', '');

/** The statuses that operations refer to. Each describes its own 400. */
const SHARED_STATUSES = [...new Set(ERROR_ROWS.map(({ status }) => status))].filter((status) => status !== 400);

/** The responses that operations refer to, by name. */
export const ERROR_COMPONENTS = {
  ...Object.fromEntries(SHARED_STATUSES.map((status) => [nameOf(status), errorResponse(status)])),
  OtherError: {
    description:
      'Any other error, in the same form: 408 if a request takes too long to arrive, 431 if its headers exceed 32 KiB.',
    headers: { ...commonHeaders(), ...bucketHeadersIfKnown() },
    content: { 'application/json': { schema, example: errorBody(431) } },
  },
};

const reference = (component: string) => ({ $ref: `#/components/responses/${component}` });

export const OTHER_ERROR = reference('OtherError');
export const errorReference = (status: number) =>
  SHARED_STATUSES.includes(status) ? reference(nameOf(status)) : OTHER_ERROR;
