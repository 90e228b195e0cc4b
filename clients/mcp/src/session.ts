import { Lanyard } from '../../typescript/src';
import { KeyScope } from './key-scope';

/** What headers of the API tell of a key. An older server sends fewer of them. */
interface KnownKey {
  /** The name of its organization. */
  organization?: string;
  /** The most tokens of its bucket. */
  maxTokens?: number;
  /** Tokens per second. */
  refillRate?: number;
}

/** What all requests to the MCP server share. */
export interface Session {
  /** Waits for tokens and repeats failed requests. */
  lanyard: Lanyard;
  scope: KeyScope;
  /** Whether tools that delete are listed. */
  allowDeletes: boolean;
  /** How many leads have been deleted. */
  deleteCount: number;
  /** What responses have shown of the key and its organization. */
  known: KnownKey;
  /** A signal that is aborted after some milliseconds. */
  timeoutAfter: (milliseconds: number) => AbortSignal;
  /** Finds out the scope of the key with one request, if it is unknown. Never throws. */
  findScope(): Promise<void>;
}

export interface SessionOptions {
  /** URL of the API, which ends with `/api/v0`. */
  url: string;
  key: string;
  allowDeletes?: boolean;
  /** In place of the platform's, for tests. */
  fetch?: typeof fetch;
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  timeoutAfter?: (milliseconds: number) => AbortSignal;
}

/** A client that lists tools should not wait longer for an API that does not respond. */
const SCOPE_TIMEOUT_MS = 3_000;

/** @throws LanyardError when the URL or the key cannot be right */
export function createSession({
  url,
  key,
  allowDeletes = false,
  fetch = globalThis.fetch,
  sleep,
  timeoutAfter = (milliseconds) => AbortSignal.timeout(milliseconds),
}: SessionOptions): Session {
  const scope = new KeyScope();
  const known: KnownKey = {};
  const observedFetch = async (address: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(address, init);
    scope.observe(response);
    Object.assign(known, knownFrom(response.headers));
    return response;
  };
  const options = { baseUrl: url, key, fetch: observedFetch };
  const impatient = new Lanyard({ ...options, timeout: SCOPE_TIMEOUT_MS, retries: 0, maxRetryAfter: 0 });
  return {
    lanyard: new Lanyard(sleep ? { ...options, sleep } : options),
    scope,
    allowDeletes,
    deleteCount: 0,
    known,
    timeoutAfter,
    async findScope() {
      if (scope.isKnown) return;
      // Every scope may read events. A failure leaves the scope unknown, and the next tool call says what is wrong.
      await impatient.get('/events', { params: { query: { limit: 1 } } }).catch(() => undefined);
    },
  };
}

function knownFrom(headers: Headers): KnownKey {
  const organization = headers.get('lanyard-organization');
  const [maxTokens, refillRate] = ['x-ratelimit-limit', 'x-ratelimit-refill'].map((name) => Number(headers.get(name)));
  return {
    ...(organization && { organization: decodeURIComponent(organization) }),
    ...(maxTokens && { maxTokens }),
    ...(refillRate && { refillRate }),
  };
}
