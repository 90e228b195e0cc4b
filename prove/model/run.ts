import type { Answer, Call } from './endpoints';
import { Impossible } from './model';
import { explain } from './orders';
import { tell } from './client';
import { audits, settlingReads } from './reads';
import { operationsOf, Step } from './steps';
import { World } from './world';

/** Where the server and the model part. */
export interface Divergence {
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
      const isLast = index === steps.length - 1;
      const story =
        (await take(world, step, outcome)) ??
        (isLast || index % AUDIT_EVERY === AUDIT_EVERY - 1 ? await audit(world, outcome) : undefined);
      world.model.journal.settle();
      outcome.operations += operationsOf(step);
      if (story !== undefined) return { ...outcome, divergence: { step: index, story } };
    }
    return outcome;
  } finally {
    await world.stop();
  }
}

async function take(world: World, step: Step, outcome: Outcome): Promise<string | undefined> {
  if ('command' in step) {
    const fault = await world.perform(step).catch(impossible);
    return fault && `${step.command}: expected ${fault}`;
  }
  const calls = step.calls.map((call) => world.concrete(call));
  const answers = await Promise.all(calls.map((call) => world.client.send(call)));
  if (calls.length === 1) return compare(world, calls[0] as Call, answers[0] as Answer);
  const reads = settlingReads(world, calls, answers);
  const read = await Promise.all(reads.map((call) => world.client.send(call)));
  outcome.reads += reads.length;
  return explain(world.model, pairs(calls, answers), pairs(reads, read));
}

function impossible(error: unknown): string {
  if (error instanceof Impossible) return error.message;
  throw error;
}

const pairs = (calls: Call[], answers: Answer[]) =>
  calls.map((call, index) => ({ call, answer: answers[index] as Answer }));

function compare(world: World, call: Call, answer: Answer): string | undefined {
  const fault = world.model.check(call, answer);
  return fault && `${tell(call, answer)}\n${fault}`;
}

/** Reads everything of every organization, page by page. */
async function audit(world: World, outcome: Outcome): Promise<string | undefined> {
  for (const call of audits(world)) {
    const fault = compare(world, call, await world.client.send(call));
    outcome.reads++;
    if (fault !== undefined) return `${fault}\n(found when everything was compared)`;
  }
  return undefined;
}
