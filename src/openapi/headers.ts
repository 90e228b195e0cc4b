import { SCOPE_HEADER } from '../access/api-key.guard';
import { ORGANIZATION_HEADER, REFILL_HEADER } from '../http/pipeline/caller';
import { CHALLENGE } from '../http/pipeline/error.filter';
import { FAULT_DETAIL_HEADER, FAULT_HEADER, FAULT_REASON_HEADER } from '../errors/error-response';
import { FAULT_REASONS } from '../errors/faults';
import { REQUEST_ID_PATTERN } from '../http/server/request';
import { MAX_LENGTH } from '../fields/fields';
import { int64, int32 } from '../fields/value-schemas';
import { KEY_SCOPES } from '../http/pipeline/scopes';
import { IDEMPOTENCY_KEY } from '../http/pipeline/idempotency.interceptor';
import { MAX_TOKENS } from '../http/rate-limit/token-bucket';
import { BUCKET_HEADERS } from '../http/rate-limit/token-bucket.interceptor';

/** A character of UTF-16 has at most three bytes in UTF-8, and each is `%` and two digits. */
const MAX_ENCODED_NAME_LENGTH = 9 * MAX_LENGTH.name;

/** The headers of requests and responses. */

interface Header {
  description: string;
  required: boolean;
  schema: object;
  example: unknown;
}

const [LIMIT, REMAINING, RESET] = BUCKET_HEADERS;

const TEXT = { type: 'string', minLength: 1, maxLength: 255 };

/** A header of every response that refers to it. */
const always = (description: string, schema: object, example: unknown): Header => ({
  description,
  required: true,
  schema,
  example,
});

const sometimes: typeof always = (...header) => ({ ...always(...header), required: false });

const HEADERS = {
  'Access-Control-Allow-Origin': sometimes(
    'Origin allowed to read the response. Absent unless the operator has allowed origins.',
    TEXT,
    'https://booth.example.com',
  ),
  'X-Request-Id': always(
    'ID of the request, which the server also logs: the `X-Request-Id` of the request, or a new UUID.',
    { ...TEXT, maxLength: 128, pattern: REQUEST_ID_PATTERN.source },
    '5f0c6f7e-2f6b-4b57-9a0e-3b1d6f0a9c21',
  ),
  [LIMIT]: always("Capacity of the key's token bucket.", int32(MAX_TOKENS.min, MAX_TOKENS.max), 20),
  [REMAINING]: always('Whole tokens left after this request.', int32(0, MAX_TOKENS.max), 19),
  [RESET]: always('Unix time in seconds at which the bucket is full again.', int64(0), 1_777_887_001),
  'Retry-After': always('Seconds to wait before the next attempt.', int32(1), 1),
  [FAULT_HEADER]: sometimes(
    'Part of the request that caused the error: `query`, `path`, `header` or `body`, followed by the name of the ' +
      'parameter, header or field. `body` alone means that the body is not a JSON object, `path` alone that the API has ' +
      'no such path. It never contains a value, and is absent if the request could not be read as HTTP.',
    TEXT,
    'query limit',
  ),
  [FAULT_REASON_HEADER]: sometimes(
    'Why that part caused the error.\n\n' +
      Object.entries(FAULT_REASONS)
        .map(([reason, meaning]) => `- \`${reason}\`: ${meaning}`)
        .join('\n'),
    { type: 'string', enum: Object.keys(FAULT_REASONS) },
    'range',
  ),
  [FAULT_DETAIL_HEADER]: sometimes(
    'Where to look. For `duplicate`, the entry that is repeated: `repeats leads[0].email`. For `scope`, ' +
      'the scopes that would do: `needs all or capture`.',
    TEXT,
    'repeats leads[0].email',
  ),
  [SCOPE_HEADER]: sometimes(
    'Scope of the key, if it may not do everything.',
    { type: 'string', enum: KEY_SCOPES.filter((scope) => scope !== 'all') },
    'capture',
  ),
  [ORGANIZATION_HEADER]: sometimes(
    'Name of the organization of the key, percent-encoded.',
    { type: 'string', minLength: 1, maxLength: MAX_ENCODED_NAME_LENGTH },
    'Harbour%20Expo',
  ),
  [REFILL_HEADER]: sometimes("Tokens per second that the key's bucket gets.", { type: 'number' }, 1),
  'WWW-Authenticate': sometimes('Names the header that must hold the API key.', TEXT, CHALLENGE),
  'Preference-Applied': sometimes(
    'The preferences of the `Prefer` header that the server applied.',
    { ...TEXT, pattern: '^((tx=(commit|rollback)|handling=(strict|lenient))(, |$))+$' },
    'tx=rollback, handling=strict',
  ),
  'Idempotency-Replayed': sometimes(
    'Present if this is the stored response of the first request with the `Idempotency-Key`.',
    { type: 'string', enum: ['true'] },
    'true',
  ),
};

const IF_KNOWN_SUFFIX = '-if-known';

/** All headers, by their names in the document. */
export const HEADER_COMPONENTS = {
  ...HEADERS,
  ...Object.fromEntries(
    BUCKET_HEADERS.map((name) => {
      const header = HEADERS[name];
      const description = `${header.description} Absent if the request had no valid key.`;
      return [name + IF_KNOWN_SUFFIX, { ...header, required: false, description }];
    }),
  ),
  'Retry-After-if-any': {
    ...HEADERS['Retry-After'],
    required: false,
    description: 'Seconds to wait before the next attempt. Absent if waiting does not help.',
  },
};

const reference = (component: string) => ({ $ref: `#/components/headers/${component}` });

/** References to the headers of a response. */
export const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, reference(name)]));

/** What responses to requests with a valid key tell of it. */
const KEY_HEADERS = [ORGANIZATION_HEADER, SCOPE_HEADER, REFILL_HEADER] as const;

/** The headers of every response. */
export const commonHeaders = () => headers('X-Request-Id', 'Access-Control-Allow-Origin');

/** The headers of responses to requests with a key. */
export const bucketHeaders = () => headers(...BUCKET_HEADERS, ...KEY_HEADERS, 'Preference-Applied');

/** The same headers, where a response may be sent before the key is known. */
export const bucketHeadersIfKnown = () => ({
  ...Object.fromEntries(BUCKET_HEADERS.map((name) => [name, reference(name + IF_KNOWN_SUFFIX)])),
  ...headers(...KEY_HEADERS, 'Preference-Applied'),
});

/** The seconds to wait, on all responses with a status or on some of them. */
export const retryHeader = (isOnAll: boolean) =>
  isOnAll ? headers('Retry-After') : { 'Retry-After': reference('Retry-After-if-any') };

const parameter = (name: string, description: string, schema: object) => ({
  [name]: { name, in: 'header', required: false, description, schema },
});

/** Header parameters of requests. */
export const PARAMETERS = {
  ...parameter(
    'X-Request-Id',
    'ID for this request, to find it in logs. An invalid value is replaced by a new one.',
    HEADERS['X-Request-Id'].schema,
  ),
  ...parameter(
    'Prefer',
    '`handling=strict` rejects what is otherwise ignored: an unknown query parameter or preference is 400 ' +
      '`Bad Request`, an unknown field of a body is 400 with its path. `tx=rollback` makes a write a dry run: the response ' +
      'is the one that the write would have, with provisional IDs and times, and nothing is stored. It cannot be combined ' +
      'with an `Idempotency-Key` (400), and reads ignore it. To use both, send `tx=rollback, handling=strict`.',
    TEXT,
  ),
  ...parameter(
    'Idempotency-Key',
    'Unique key of your choice, such as a random UUID. If the request is repeated within 24 hours with the same API ' +
      'key, path and body (fields in the same order), it is not carried out again and the first response is returned. ' +
      'A response that is too large to be stored is 413, and nothing is changed.',
    { ...TEXT, pattern: IDEMPOTENCY_KEY.source },
  ),
};
