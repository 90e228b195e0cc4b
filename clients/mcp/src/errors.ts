import { LanyardError } from '../../typescript/src';
import type { KeyScope } from './key-scope';

/** What an agent can do about an error, by its status. */
const ADVICE: Partial<Record<number, string>> = {
  400: 'Correct the part that is named and call the tool again.',
  401: 'Ask the operator of the Lanyard server for a key, and set LANYARD_KEY.',
  403: 'Ask the operator of the Lanyard server for a valid key, and set LANYARD_KEY.',
  404: 'There is no such record. Look up the ID with a tool that finds or lists records.',
  410: 'Call list_changes without a cursor, and read the lists again: changes may be missing.',
  429: 'Wait before you call a tool again.',
};

/** The reason of a 403 for what the scope of the key does not allow. The types of an older server do not have it. */
const SCOPE_REASON: string = 'scope';

/** Whether the scope of the key does not allow a request. */
export const isScopeError = (error: unknown): boolean =>
  error instanceof LanyardError && error.status === 403 && error.reason === SCOPE_REASON;

/** What went wrong, for an agent that should correct itself. It contains no values of records. */
export function errorText(error: unknown, scope: KeyScope): string {
  if (!(error instanceof LanyardError)) return 'The tool failed. Nothing is known about the outcome.';
  if (isScopeError(error)) return scope.sentence;
  const { status, method, path, retryAfter } = error;
  const lines = [`${method ?? ''} ${path ?? ''} failed: ${error.message}.`.trimStart()];
  for (const [name, value] of Object.entries({
    'Lanyard-Fault': error.fault,
    'Lanyard-Fault-Reason': error.reason,
    'Lanyard-Fault-Detail': error.detail,
    'X-Request-Id': error.requestId,
    'Retry-After': retryAfter,
  })) {
    if (value !== undefined) lines.push(`${name}: ${value}`);
  }
  const advice = adviceFor(status, method);
  if (advice) lines.push(advice);
  return lines.join('\n');
}

function adviceFor(status: number | undefined, method: string | undefined): string | undefined {
  const isUncertain = method !== undefined && method !== 'GET' && (status === undefined || status >= 500);
  if (isUncertain) return 'The write may have been carried out. Look before you repeat it.';
  return status === undefined ? 'Is the Lanyard server running, and is LANYARD_URL right?' : ADVICE[status];
}
