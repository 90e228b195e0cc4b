import type { Answer, Call } from './endpoints';
import type { Model } from './model';
import { tell } from './client';

interface Exchange {
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
  for (const { call, answer } of charges) {
    const fault = model.charge(call, answer);
    if (fault !== undefined) return `${charges.map((each) => tell(each.call, each.answer)).join('\n')}\n${fault}`;
  }
  if (inSomeOrder(model, atOnce, afterwards, failures)) return undefined;
  const exchanges = [...atOnce, ...afterwards].map(({ call, answer }) => tell(call, answer));
  return [
    `no order explains ${atOnce.length} requests made at once, and the reads after them:`,
    ...exchanges,
    ...failures,
  ].join('\n');
}

/** Tokens are taken one after another, in an order of their own. */
const tokensLeft = ({ answer: { status, headers } }: Exchange): number =>
  status === 429 ? -1 : Number(headers['x-ratelimit-remaining'] ?? 0);

function inSomeOrder(model: Model, left: Exchange[], afterwards: Exchange[], failures: Set<string>): boolean {
  if (left.length === 0) return afterwards.every((each) => fits(model, each, failures));
  return left.some((first) => {
    const mark = model.journal.mark();
    const rest = left.filter((each) => each !== first);
    if (fits(model, first, failures) && inSomeOrder(model, rest, afterwards, failures)) return true;
    model.journal.rollback(mark);
    return false;
  });
}

function fits(model: Model, { call, answer }: Exchange, failures: Set<string>): boolean {
  const fault = model.answer(call, answer);
  if (fault !== undefined) failures.add(`${call.endpoint} ${call.ids.join(' ')}: ${fault}`);
  return fault === undefined;
}
