import { Random } from '../prove/support/random';
import { describe, send } from './client';
import type { Answer, Call } from './endpoints';
import { Generator } from './generate';
import { explain } from './orders';
import { audits, settlingReads } from './reads';
import { World } from './world';

/** Steps after which everything that can be read is compared. */
const AUDIT_EVERY = 400;

export interface Outcome {
  operations: number;
  /** where the server and the model differ: what was asked, what was answered, and what the contract has instead */
  divergence?: string;
}

/** Takes random steps on a fresh server until one diverges from the model, or all are done. */
export async function run(seed: number, steps: number): Promise<Outcome> {
  const random = new Random(seed);
  const world = await World.start();
  const generator = new Generator(random, world.model.state);
  const outcome: Outcome = { operations: 0 };
  try {
    for (let step = 1; step <= steps && outcome.divergence === undefined; step++) {
      outcome.divergence = await take(world, generator, outcome);
      if (step % AUDIT_EVERY === 0 || step === steps) outcome.divergence ??= await audit(world);
      if (outcome.divergence) outcome.divergence = `seed ${seed}, step ${step}: ${outcome.divergence}`;
    }
    return outcome;
  } finally {
    await world.stop();
  }
}

async function take(world: World, generator: Generator, outcome: Outcome): Promise<string | undefined> {
  const calls = generator.calls();
  const answers = await Promise.all(calls.map((call) => send(world.port, call)));
  outcome.operations += calls.length;
  if (calls.length === 1) return compare(world, calls[0] as Call, answers[0] as Answer);
  const reads = settlingReads(world.model.state, calls, answers);
  const read = await Promise.all(reads.map((call) => send(world.port, call)));
  return explain(world.model, pairs(calls, answers), pairs(reads, read));
}

const pairs = (calls: Call[], answers: Answer[]) =>
  calls.map((call, index) => ({ call, answer: answers[index] as Answer }));

function compare(world: World, call: Call, answer: Answer): string | undefined {
  const fault = world.model.check(call, answer);
  return fault && `${describe(call, answer)}\n${fault}`;
}

/** Reads everything of every organization, page by page. */
async function audit(world: World): Promise<string | undefined> {
  for (const call of audits(world.model.state)) {
    const fault = compare(world, call, await send(world.port, call));
    if (fault !== undefined) return `${fault}\n(found when everything was compared)`;
  }
  return undefined;
}
