import type { Call } from './endpoints';
import type { State, Tenant } from './records';
import type { Paging, Reply } from './replies';

/** A request that reached an endpoint: with a key, a token and ids of the right form. */
export interface Context {
  state: State;
  tenant: Tenant;
  call: Call;
  /** ids of the path, in lower case */
  ids: string[];
  /** the server's answer, of which only values that it makes up are taken */
  answer: unknown;
  /** @throws Refused when limit or offset are malformed */
  paging(): Paging;
}

/** Changes the state as the request does, and gives the body of the answer. */
export type Handler = (context: Context) => Reply;

/** What the contract does not allow of a value that the server made up. */
export class Impossible {
  constructor(readonly message: string) {}
}

export function mustBe(right: boolean, what: string, value: unknown): asserts right {
  if (!right) throw new Impossible(`expected ${what}, not ${JSON.stringify(value)}`);
}

export function mustBeNow(value: unknown): void {
  const right = typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
  mustBe(right && Math.abs(Date.parse(value) - Date.now()) < 60_000, 'a moment of now', value);
}
