import { isDeepStrictEqual } from 'node:util';
import * as catalogue from './catalogue';
import { type Handler, Impossible } from './contract';
import type { Answer, Call, EndpointName } from './endpoints';
import * as leads from './leads';
import { State, type Tenant } from './records';
import { BAD_REQUEST, comparable, FORBIDDEN, pagingOf, Refused, type Reply, UNAUTHORIZED } from './replies';
import { isUuid } from './rules';
import { knownPart } from './unknown';

const HANDLERS: Partial<Record<EndpointName, Handler>> = {
  ...leads,
  ...catalogue,
};

/** The operations that the model knows. */
export const KNOWN = Object.keys(HANDLERS) as EndpointName[];

/** The contract as a program: a few tables in memory. It knows nothing of how the services work. */
export class Model {
  readonly state = new State();

  /**
   * Compares an answer with the contract, and takes over what the request changed.
   * @returns what the contract has instead; undefined when the answer is right
   */
  check(call: Call, answer: Answer): string | undefined {
    try {
      const expected = this.replyTo(call, answer);
      const wanted = comparable(expected);
      const body = knownPart(comparable(answer.body), wanted);
      const isRight = expected.status === answer.status && isDeepStrictEqual(wanted, body);
      return isRight ? undefined : `expected ${JSON.stringify(expected)}`;
    } catch (error) {
      if (error instanceof Impossible) return error.message;
      throw error;
    }
  }

  private replyTo(call: Call, answer: Answer): Reply {
    const tenant = this.admitted(call);
    if ('status' in tenant) return tenant;
    const ids = call.ids.map((id) => id.toLowerCase());
    if (!ids.every(isUuid)) return BAD_REQUEST;
    const handler = HANDLERS[call.endpoint];
    if (!handler) throw new Error(`The model does not know ${call.endpoint}`);
    try {
      return handler({ state: this.state, tenant, call, ids, answer: answer.body, paging: () => pagingOf(call) });
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  }

  /** The organization whose key lets a request in, or the refusal. */
  private admitted({ keys: [value, ...more] }: Call): Tenant | Reply {
    if (value === undefined || (value.trim() === '' && more.length === 0)) return UNAUTHORIZED;
    return (more.length === 0 && this.state.tenantOf(value)) || FORBIDDEN;
  }
}
