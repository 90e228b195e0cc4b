import { describe, send } from './client';
import type { Answer, Call } from './endpoints';
import { explain } from './orders';
import { audits, settlingReads } from './reads';
import type { Step } from './steps';
import { World } from './world';

/** Where the server and the model differ. */
interface Divergence {
  /** index of the step */
  step: number;
  /** what was asked, what was answered, and what the contract has instead */
  story: string;
}

/** Steps after which everything that can be read is compared. */
const AUDIT_EVERY = 400;

interface Outcome {
  operations: number;
  /** requests made only to compare what is stored */
  reads: number;
  divergence: Divergence | undefined;
}

/** Takes steps on a fresh server until one diverges from the model, or all are done. */
export async function run(steps: Step[]): Promise<Outcome> {
  const world = await World.start();
  const outcome: Outcome = { operations: 0, reads: 0, divergence: undefined };
  try {
    for (const [index, step] of steps.entries()) {
      const isAudited = index === steps.length - 1 || index % AUDIT_EVERY === AUDIT_EVERY - 1;
      const story = (await take(world, step, outcome)) ?? (isAudited ? await audit(world, outcome) : undefined);
      outcome.operations += 'calls' in step ? step.calls.length : 1;
      if (story !== undefined) return { ...outcome, divergence: { step: index, story } };
    }
    return outcome;
  } finally {
    await world.stop();
  }
}

async function take(world: World, step: Step, outcome: Outcome): Promise<string | undefined> {
  if ('command' in step) {
    const fault = await world.perform(step);
    return fault && `${step.command}: expected ${fault}`;
  }
  const calls = step.calls.map((call) => world.concrete(call));
  const answers = await Promise.all(calls.map((call) => send(world.port, call)));
  if (calls.length === 1) return compare(world, calls[0] as Call, answers[0] as Answer);
  const reads = settlingReads(world, calls, answers);
  const read = await Promise.all(reads.map((call) => send(world.port, call)));
  outcome.reads += reads.length;
  return explain(world.model, pairs(calls, answers), pairs(reads, read));
}

const pairs = (calls: Call[], answers: Answer[]) =>
  calls.map((call, index) => ({ call, answer: answers[index] as Answer }));

function compare(world: World, call: Call, answer: Answer): string | undefined {
  const fault = world.model.check(call, answer);
  return fault && `${describe(call, answer)}\n${fault}`;
}

/** Reads everything of every organization, page by page. */
async function audit(world: World, outcome: Outcome): Promise<string | undefined> {
  for (const call of audits(world)) {
    const fault = compare(world, call, await send(world.port, call));
    outcome.reads++;
    if (fault !== undefined) return `${fault}\n(found when everything was compared)`;
  }
  return undefined;
}
