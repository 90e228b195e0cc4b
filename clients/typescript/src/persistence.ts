import { type Answer, isAnswer } from './contract';
import { type FaultReason, LanyardError } from './lanyard-error';

export interface Persistence {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  random: () => number;
  /** milliseconds for one attempt, its answer included */
  timeout: number;
  /** how often a request that failed is sent again */
  retries: number;
  /** milliseconds of Retry-After that are still waited for */
  maxRetryAfter: number;
  signal?: AbortSignal;
  /** whether an answer of success has what the call needs of it, beside what all have */
  fits: (answer: Answer) => boolean;
}

/** of the header Prefer */
export const DRY_RUN = 'tx=rollback';
const isDryRun = (headers: Headers, name: string): boolean => headers.get(name)?.includes(DRY_RUN) ?? false;

const NO_DRY_RUN =
  'This was no dry run, and the write may be done: the server knows none, or a proxy removes the header Prefer';

/** Milliseconds. The first backoff is at most so long, and it doubles until it is the longest. */
const FIRST_BACKOFF = 500;
const LONGEST_BACKOFF = 8000;

/**
 * Sends a request again while what went wrong may pass: an empty bucket, for as long as it takes; no answer, 5xx, and the
 * like, a few times. GET, PUT, DELETE and dry runs may be repeated as they are; POST and PATCH, because all repetitions
 * have one Idempotency-Key.
 * @returns the answer of success, read to its end
 * @throws LanyardError, or the reason of the signal
 */
export async function send(request: Request, options: Persistence): Promise<Response> {
  const { random, sleep, signal, retries, maxRetryAfter } = options;
  const { method, headers } = request;
  if (['POST', 'PATCH'].includes(method) && !headers.has('idempotency-key') && !isDryRun(headers, 'prefer')) {
    headers.set('idempotency-key', crypto.randomUUID());
  }
  const body = request.body ? await request.text() : undefined;
  for (let refused = 0, failed = 0; ;) {
    const outcome = await attempt(request, body, failed + 1, options);
    if (!(outcome instanceof LanyardError)) return outcome;
    const nth = outcome.status === 429 ? ++refused : ++failed;
    const wait = (outcome.retryAfter ?? 0) * 1000;
    if (!mayPass(outcome.status) || failed > retries || wait > maxRetryAfter) throw outcome;
    // "Full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
    await sleep(wait + random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (nth - 1)), signal);
  }
}

/** 408: it came too slowly. 409: the first request with this Idempotency-Key still runs. 429: the bucket is empty. */
const mayPass = (status?: number): boolean => status === undefined || status >= 500 || [408, 409, 429].includes(status);

async function attempt(
  { url, method, headers }: Request,
  body: string | undefined,
  attempts: number,
  { fetch, timeout, signal, fits }: Persistence,
): Promise<Response | LanyardError> {
  const failure = { method, path: new URL(url).pathname, attempts };
  const limit = AbortSignal.timeout(timeout);
  try {
    signal?.throwIfAborted();
    const response = await fetch(url, {
      method,
      headers,
      body,
      // The key is for this server: it must not follow a redirect to another one.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    // Read here, because an answer that breaks off is lost as well.
    const text = await response.text();
    const answer = parsed(text);
    const { ok, status } = response;
    const isDone = isDryRun(headers, 'prefer') && ok && !isDryRun(response.headers, 'preference-applied');
    if (ok && !isDone && isAnswer(answer) && fits(answer))
      return new Response(text, { status, headers: response.headers });
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    return new LanyardError(isDone ? NO_DRY_RUN : errorOf(response, answer), {
      ...failure,
      text: !ok && typeof answer?.error === 'string' ? answer.error : undefined,
      status,
      fault: header('lanyard-fault'),
      reason: header('lanyard-fault-reason') as FaultReason | undefined,
      detail: header('lanyard-fault-detail'),
      requestId: header('x-request-id'),
      retryAfter: secondsOf(response.headers.get('retry-after')),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    const message = `No answer from ${new URL(url).origin}${limit.aborted ? ` within ${timeout} ms` : ''}`;
    return new LanyardError(message, { ...failure, cause });
  }
}

/** undefined when it is no JSON object, and so not the API's */
function parsed(text: string): { error?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The API's own words, or else what is known of who answered in its place, such as a proxy. */
function errorOf({ ok, status, statusText, headers }: Response, answer?: { error?: unknown }): string {
  if (ok) return 'The answer is not that of the API: is the baseUrl right, or does a proxy or a login page answer?';
  if (typeof answer?.error === 'string') return answer.error;
  const location = headers.get('location');
  if (location && status < 400) return `Redirected to ${location}: the baseUrl should be there`;
  return statusText || `HTTP ${status}`;
}

/** Of a Retry-After: seconds, or a date as proxies may have it. */
function secondsOf(value: string | null): number | undefined {
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
