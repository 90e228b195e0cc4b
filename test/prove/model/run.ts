import { Random } from '../support/random';
import { describe, send } from './client';
import { type Answer, type Call, ENDPOINTS } from './endpoints';
import { Generator } from './generate';
import { KNOWN } from './model';
import { explain } from './orders';
import { audits, settlingReads } from './reads';
import { unknownTo } from './unknown';
import { World } from './world';

/** Steps after which everything that can be read is compared. */
const AUDIT_EVERY = 400;
const OPERATOR_SHARE = 0.03;

export interface Outcome {
  operations: number;
  /** requests made only to compare what is stored */
  reads: number;
  /** fields of answers that the model does not know */
  unknownFields: string[];
  /** where the server and the model differ: what was asked, what was answered, and what the contract has instead */
  divergence?: string;
}

/** Says what the runs could not try, because the model does not know it; nothing when it knows all. */
export const untried = (unknownFields: Iterable<string>): string =>
  unknownTo(
    Object.keys(ENDPOINTS).filter((name) => !(KNOWN as string[]).includes(name)),
    [...unknownFields].sort(),
  );

/** Takes random steps on a fresh server until one diverges from the model, or all are done. */
export async function run(seed: number, steps: number): Promise<Outcome> {
  const random = new Random(seed);
  const world = await World.start(random);
  const generator = new Generator(random, world.model.state);
  const outcome: Outcome = { operations: 0, reads: 0, unknownFields: [] };
  try {
    for (let step = 1; step <= steps && outcome.divergence === undefined; step++) {
      outcome.divergence = await take(world, generator, random, outcome);
      if (step % AUDIT_EVERY === 0 || step === steps) outcome.divergence ??= await audit(world, outcome);
      if (outcome.divergence) outcome.divergence = `seed ${seed}, step ${step}: ${outcome.divergence}`;
    }
    outcome.unknownFields = [...world.model.unknownFields];
    return outcome;
  } finally {
    await world.stop();
  }
}

async function take(world: World, generator: Generator, random: Random, outcome: Outcome): Promise<string | undefined> {
  if (random.chance(OPERATOR_SHARE)) {
    outcome.operations++;
    const fault = await world.operate(generator.tenant());
    return fault && `the operator: expected ${fault}`;
  }
  const calls = generator.calls();
  const answers = await Promise.all(calls.map((call) => send(world.port, call)));
  outcome.operations += calls.length;
  if (calls.length === 1) return compare(world, calls[0] as Call, answers[0] as Answer);
  const reads = settlingReads(world.model.state, calls, answers);
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
  for (const call of audits(world.model.state)) {
    const fault = compare(world, call, await send(world.port, call));
    outcome.reads++;
    if (fault !== undefined) return `${fault}\n(found when everything was compared)`;
  }
  return undefined;
}
