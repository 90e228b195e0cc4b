import type { Call } from './endpoints';
import { Fields } from './records';
import { firstFault, Rules } from './rules';

/** The body of an answer, with its status in it as the contract has it. */
export interface Reply {
  status: number;
  [part: string]: unknown;
}

export const ok = (results: unknown): Reply => ({ status: 200, results });
export const BAD_REQUEST: Reply = { status: 400, error: 'Bad Request' };
export const UNAUTHORIZED: Reply = { status: 401, error: 'Unauthorized' };
export const FORBIDDEN: Reply = { status: 403, error: 'Forbidden' };
export const NOT_FOUND: Reply = { status: 404, error: 'Not Found' };
export const invalid = (field: string): Reply => ({ status: 400, error: `Missing or invalid '${field}'` });

/** Thrown where a request is refused; nothing has been changed then. */
export class Refused {
  constructor(readonly reply: Reply) {}
}

export const refuse = (reply: Reply): never => {
  throw new Refused(reply);
};

/** The values of a query parameter that is given once, or not at all. */
export function parameter(call: Call, name: string): string | undefined {
  const values = call.query.filter(([each]) => each === name);
  return values.length > 1 ? refuse(BAD_REQUEST) : values[0]?.[1];
}

export function whole(call: Call, name: string, fallback: number, min: number, max: number): number {
  const value = parameter(call, name);
  if (value === undefined) return fallback;
  return /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : refuse(BAD_REQUEST);
}

export interface Paging {
  limit: number;
  offset: number;
}

export const pagingOf = (call: Call): Paging => ({
  limit: Math.min(whole(call, 'limit', 20, 1, Infinity), 50),
  offset: whole(call, 'offset', 0, 0, 2_147_483_647),
});

/** A page of a list. */
export function page<Row>(name: string, rows: Row[], { limit, offset }: Paging, show: (row: Row) => unknown): Reply {
  const shown = rows.slice(limit * offset, limit * (offset + 1)).map(show);
  return { status: 200, pagination: { limit, offset }, results: { [name]: shown, total: rows.length } };
}

/** The body of a request that needs one, checked. */
export function bodyOf({ payload }: Call, rules: Rules): Fields {
  const body = parse(payload);
  const fault = firstFault(rules, body);
  if (fault !== undefined) return refuse(invalid(fault));
  // Where no field is required, a body of another type than JSON would pass as an empty one.
  return payload && 'otherType' in payload ? refuse(BAD_REQUEST) : body;
}

function parse(payload: Call['payload']): Fields {
  if (!payload || 'otherType' in payload) return {};
  let body: unknown;
  try {
    body = 'json' in payload ? payload.json : JSON.parse(payload.text);
  } catch {
    return refuse(BAD_REQUEST);
  }
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Fields) : refuse(BAD_REQUEST);
}

/** What the server made up, as it stands in its answer: `results.id`, say. Undefined when it is not there. */
export function valueAt(answer: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? (value as Fields)[name] : undefined),
    answer,
  );
}

/** The contract gives no order of remote ids. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const isSet = (name: string, each: unknown): each is Fields[] => name === 'remoteIds' && Array.isArray(each);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isSet(name, each) ? sortedByType(each) : comparable(each)]),
  );
}

const sortedByType = (ids: Fields[]): Fields[] =>
  ids.toSorted((a, b) => (String(a.integrationType) < String(b.integrationType) ? -1 : 1));
