import { isDeepStrictEqual } from 'node:util';
import * as catalogue from './catalogue';
import { listChanges, note } from './changes';
import { type Handler, Impossible } from './contract';
import { type Answer, type Call, type EndpointName, ENDPOINTS } from './endpoints';
import * as events from './events';
import * as leads from './leads';
import { type Key, State } from './records';
import { BAD_REQUEST, FORBIDDEN, NOT_FOUND, ok, page, pagingOf, Refused, refuse, type Reply } from './replies';
import { comparable, TOO_MANY, UNAUTHORIZED } from './replies';
import { isUuid } from './rules';
import { knownPart } from './unknown';

const { newIndustryEvent: _, ...catalogueHandlers } = catalogue;

const HANDLERS: Partial<Record<EndpointName, Handler>> = {
  ...events,
  ...leads,
  ...catalogueHandlers,
  listChanges,
  listActivations: ({ tenant, paging }) => page('activations', tenant.activations.list(), paging(), (each) => each),
  getActivation: ({ tenant, ids: [id = ''] }) => ok(tenant.activations.get(id) ?? refuse(NOT_FOUND)),
  listTagGroups: ({ tenant, paging }) => page('tagGroups', tenant.tagGroups.list(), paging(), (each) => each),
  getTagGroup: ({ tenant, ids: [id = ''] }) => ok(tenant.tagGroups.get(id) ?? refuse(NOT_FOUND)),
};

/** The operations that the model knows. */
export const KNOWN = Object.keys(HANDLERS) as EndpointName[];

/** The contract as a program: a few tables in memory. It knows nothing of how the services work. */
export class Model {
  readonly state = new State();
  readonly unknownFields = new Set<string>();

  /**
   * Compares the answer to a request that was alone with the contract, and takes over what the request changed.
   * @returns what the contract has instead; undefined when the answer is right
   */
  check(call: Call, answer: Answer): string | undefined {
    return this.charge(call, answer) ?? this.answer(call, answer, true);
  }

  /** Takes the token that a request cost. Of requests made at once, tokens and effects may come in different orders. */
  charge(call: Call, answer: Answer): string | undefined {
    const key = this.admitted(call);
    if ('status' in key) return undefined;
    const after = charged(key, answer);
    if (typeof after === 'string') return `expected ${after}`;
    this.state.keys.set(key.value, after);
    return undefined;
  }

  /** What an answer should have been but for its token; takes over what the request changed. */
  answer(call: Call, answer: Answer, isAlone = false): string | undefined {
    try {
      const expected = this.replyTo(call, answer, isAlone);
      const wanted = comparable(expected);
      const body = knownPart(comparable(answer.body), wanted, this.unknownFields);
      const isRight = expected.status === answer.status && isDeepStrictEqual(wanted, body);
      return isRight ? undefined : `expected ${JSON.stringify(expected)}`;
    } catch (error) {
      if (error instanceof Impossible) return error.message;
      throw error;
    }
  }

  private replyTo(call: Call, answer: Answer, isAlone: boolean): Reply {
    const key = this.admitted(call);
    if ('status' in key) return key;
    if (answer.status === TOO_MANY.status) return TOO_MANY;
    const ids = call.ids.map((id) => id.toLowerCase());
    const areWellFormed = ENDPOINTS[call.endpoint].ids.every((kind, index) =>
      kind === 'event' ? isEventId(ids[index] ?? '') : isUuid(ids[index]),
    );
    if (!areWellFormed) return BAD_REQUEST;
    const { state } = this;
    const tenant = state.tenant(key.organization);
    const handler = HANDLERS[call.endpoint];
    if (!handler) throw new Error(`The model does not know ${call.endpoint}`);
    note(tenant);
    try {
      return handler({ state, tenant, call, ids, answer: answer.body, isAlone, paging: () => pagingOf(call) });
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  }

  /** The key that lets a request in, or the refusal. */
  private admitted({ keys: [value, ...more] }: Call): Key | Reply {
    if (value === undefined || (value.trim() === '' && more.length === 0)) return UNAUTHORIZED;
    return (more.length === 0 && this.state.keys.get(value)) || FORBIDDEN;
  }
}

const isEventId = (id: string): boolean => /^\d+$/.test(id) && Number.isSafeInteger(Number(id)) && Number(id) > 0;

/** The key after an answer; or what the answer's headers should say. */
function charged(key: Key, { status, headers, sent }: Answer): Key | string {
  const { isMain, maxTokens, refillRate, tokens } = key;
  const isRefused = status === 429;
  const remaining = Number(headers['x-ratelimit-remaining']);
  if (Number(headers['x-ratelimit-limit']) !== maxTokens) return `X-RateLimit-Limit ${maxTokens}`;
  if (isRefused !== (tokens === 0)) return `a bucket of ${tokens} tokens`;
  // A main key's bucket refills faster than anyone asks; the others so slowly that a run sees no token come back.
  const left = isRefused ? 0 : isMain ? remaining : tokens - 1;
  if (remaining !== left || left >= maxTokens) return `X-RateLimit-Remaining ${left}, not ${remaining}`;
  const missing = isMain ? 0 : maxTokens - left;
  // Each token that is missing takes 1 / rate seconds; one may have been on its way for as long as a run lasts.
  const fullInS = Number(headers['x-ratelimit-reset']) - sent / 1000;
  const isResetRight = fullInS >= (missing - 1) / refillRate - 2 && fullInS <= missing / refillRate + 3;
  if (!isResetRight) return `X-RateLimit-Reset for ${missing} tokens, not in ${fullInS} s`;
  const retryAfter = headers['retry-after'];
  const isWaitRight = Number(retryAfter) >= 1 && Number(retryAfter) <= Math.ceil(1 / refillRate) + 1;
  if (isRefused ? !isWaitRight : retryAfter !== undefined) return `another Retry-After than ${String(retryAfter)}`;
  return isMain ? key : { ...key, tokens: left };
}
