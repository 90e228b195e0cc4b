import type { Context, IHttpRequestOptions, IN8nHttpFullResponse, IDataObject } from './n8n-workflow';

/** Nothing was changed by these, and the same request may succeed after the seconds of `Retry-After`. */
const RETRIABLE = [409, 429, 503];

export interface Call {
  qs?: IDataObject;
  body?: unknown;
  /** Makes a repeated POST or PATCH have one effect. */
  idempotencyKey?: string;
  /** Seconds that the call may wait for in all. */
  maxWait: number;
  /** A 404 is undefined, and no error. */
  mayBeMissing?: boolean;
}

/** An error of the API, as people see it in n8n: it names what the request has wrong. */
export class LanyardApiError extends Error {
  constructor(
    readonly status: number,
    readonly description: string,
    message: string,
  ) {
    super(message);
  }
}

const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/**
 * The `results` of a request. It waits as `Retry-After` says, and gives up before it would have waited longer than it may.
 * @throws LanyardApiError
 */
export async function call<T = IDataObject>(
  context: Context,
  method: IHttpRequestOptions['method'],
  path: string,
  options: Call,
) {
  const { baseUrl } = (await context.getCredentials('lanyardApi')) as { baseUrl: string };
  const { qs, body, idempotencyKey, maxWait, mayBeMissing } = options;
  const request: IHttpRequestOptions = {
    method,
    url: `${baseUrl.replace(/\/+$/, '')}${path}`,
    qs,
    body,
    headers: idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : undefined,
    json: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  };
  let waited = 0;
  for (;;) {
    const response = await context.helpers.httpRequestWithAuthentication.call(context, 'lanyardApi', request);
    const { statusCode, headers } = response;
    if (statusCode >= 200 && statusCode < 300) return (response.body as { results: T }).results;
    if (statusCode === 404 && mayBeMissing) return undefined as T;
    const seconds = Number(headers['retry-after']);
    if (!RETRIABLE.includes(statusCode) || !(seconds > 0) || waited + seconds > maxWait)
      throw errorOf(response, waited);
    await pause(seconds);
    waited += seconds;
  }
}

function errorOf({ statusCode, headers, body }: IN8nHttpFullResponse, waited: number): LanyardApiError {
  const text = (body as { error?: string } | undefined)?.error ?? 'no answer of the API';
  const fault = headers['lanyard-fault'];
  const reason = [headers['lanyard-fault-reason'], headers['lanyard-fault-detail']].filter(Boolean).join(', ');
  const where = fault ? ` (${fault}${reason ? `: ${reason}` : ''})` : '';
  const after = waited > 0 ? `, after waiting ${waited} s` : '';
  const description = `Request ${headers['x-request-id'] ?? 'without an ID'}`;
  return new LanyardApiError(statusCode, description, `${statusCode} ${text}${where}${after}`);
}

interface Page {
  total: number;
  [list: string]: unknown;
}

/** The entries of a list, page by page, up to a number of them. */
export async function entries(context: Context, path: string, list: string, max: number, options: Call) {
  const found: IDataObject[] = [];
  for (let offset = 0; found.length < max; offset++) {
    const page = await call<Page>(context, 'GET', path, { ...options, qs: { ...options.qs, limit: 50, offset } });
    const items = page[list] as IDataObject[];
    found.push(...items);
    if (items.length < 50 || (offset + 1) * 50 >= page.total) break;
  }
  return found.slice(0, max);
}
