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
  const story = [...atOnce, ...afterwards].map(({ call, answer }) => describe(call, answer)).join('\n');
  if (inSomeOrder(model, atOnce, afterwards, failures)) return undefined;
  return [`no order explains ${atOnce.length} requests made at once:`, story, ...failures].join('\n');
}

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
  const fault = model.check(call, answer);
  if (fault !== undefined) failures.add(`${call.endpoint} ${call.ids.join(' ')}: ${fault}`);
  return fault === undefined;
}
