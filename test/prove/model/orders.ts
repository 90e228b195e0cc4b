import { describe } from './client';
import type { Answer, Call } from './endpoints';
import type { Model } from './model';

export interface Exchange {
  call: Call;
  answer: Answer;
}

/**
 * Looks for an order of requests that were made at once which explains every answer, and what was read afterwards. The
 * model is left as after that order.
 * @returns the story of requests that no order explains, or undefined
 */
export function explain(model: Model, atOnce: Exchange[], afterwards: Exchange[]): string | undefined {
  const failures = new Set<string>();
  const charges = [...atOnce.toSorted((a, b) => tokensLeft(b) - tokensLeft(a)), ...afterwards];
  const story = charges.map(({ call, answer }) => describe(call, answer)).join('\n');
  for (const { call, answer } of charges) {
    const fault = model.charge(call, answer);
    if (fault !== undefined) return `${story}\n${fault}`;
  }
  if (inSomeOrder(model, atOnce, afterwards, failures)) return undefined;
  return [`no order explains ${atOnce.length} requests made at once:`, story, ...failures].join('\n');
}

/** Tokens are taken one after another, in an order of their own. */
const tokensLeft = ({ answer: { status, headers } }: Exchange): number =>
  status === 429 ? -1 : Number(headers['x-ratelimit-remaining'] ?? 0);

function inSomeOrder(model: Model, left: Exchange[], afterwards: Exchange[], failures: Set<string>): boolean {
  if (left.length === 0) return afterwards.every((each) => fits(model, each, failures));
  return left.some((first) => {
    const restore = model.state.snapshot();
    const rest = left.filter((each) => each !== first);
    if (fits(model, first, failures) && inSomeOrder(model, rest, afterwards, failures)) return true;
    restore();
    return false;
  });
}

function fits(model: Model, { call, answer }: Exchange, failures: Set<string>): boolean {
  const fault = model.answer(call, answer);
  if (fault !== undefined) failures.add(`${call.endpoint} ${call.ids.join(' ')}: ${fault}`);
  return fault === undefined;
}
