import { STATUS_CODES } from 'node:http';
import { Answer } from './answers';
import { Expected } from './attempt';

/** What is wrong with an answer, or undefined. */
export function faultOf(answer: Answer, expected: Expected): string | undefined {
  const { status, headers } = answer;
  if (status >= 500) return `status ${status}`;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') {
    return `${status} of type ${headers.get('content-type') ?? 'none'}`;
  }
  const { statuses, mayRead } = expected;
  if (statuses.length > 0 && !statuses.includes(status)) return `status ${status} instead of ${statuses.join(' or ')}`;
  if (status < 400 && (status !== 200 || !mayRead)) return `status ${status} of what must be refused`;
  return faultOfHeaders(answer, expected) ?? (expected.isHead ? undefined : faultOfBody(answer));
}

function faultOfHeaders({ status, headers }: Answer, { isRead, id }: Expected): string | undefined {
  const named = headers.get('x-request-id');
  if (isRead && named === undefined) return `${status} without X-Request-Id`;
  // Of all checks this one sees an answer that belongs to another request.
  if (id !== undefined && named !== id) return `${status} named ${named} instead of ${id}`;
  if (status === 429 && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) return '429 without Retry-After';
  if (status === 200 && !headers.has('x-ratelimit-remaining')) return '200 without X-RateLimit-Remaining';
  return undefined;
}

const FIELD = /^Missing or invalid '[A-Za-z-]+(\[\d+\])?(\.[A-Za-z]+)?'$/;

function faultOfBody({ status, body }: Answer): string | undefined {
  const text = body.toString();
  let read: Record<string, unknown>;
  try {
    read = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return `${status} that is not JSON: ${text.slice(0, 100)}`;
  }
  if (read.status !== status) return `${status} whose body says ${String(read.status)}`;
  if (status === 200) return undefined;
  const { error } = read;
  const isKnown = error === STATUS_CODES[status] || (status === 400 && typeof error === 'string' && FIELD.test(error));
  return isKnown && Object.keys(read).join() === 'status,error'
    ? undefined
    : `${status} with the body ${text.slice(0, 100)}`;
}
