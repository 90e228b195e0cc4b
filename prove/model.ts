import 'reflect-metadata';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import setUp from '../test/support/global-setup';
import { operationsOf } from './model/steps';
import { stepsOf } from './model/operations';
import { run } from './model/run';
import { shrink } from './model/shrink';
import { record } from './results';

/**
 * Random operations against a model of the specification. It stops at the first divergence, makes it small, and prints
 * what test/tooling/model.spec.ts keeps of it.
 */

/** Steps of a run, which starts with an empty database: enough for lists of several pages. */
const STEPS = 2000;
/** Operations of a result to publish. */
const FULL = 1_000_000;

interface Options {
  operations: number;
  seed: number;
  /** runs that are under way at a time, each on a server of its own */
  concurrency: number;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      operations: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      concurrency: { type: 'string', default: '4' },
    },
  });
  const [operations, seed, concurrency] = [values.operations, values.seed, values.concurrency].map(Number) as [
    ...[number, number, number],
  ];
  if (![operations, concurrency].every((each) => each >= 1) || !Number.isInteger(seed)) {
    throw new Error('--operations and --concurrency are numbers above 0, --seed an integer');
  }
  return { operations, seed, concurrency };
}

class Proof {
  private runs = 0;
  private operations = 0;
  private reads = 0;
  private divergences = 0;
  private stopped = false;
  private interrupted = false;
  private told = 0;
  private readonly started = performance.now();

  constructor(private readonly options: Options) {}

  /** Lets the runs under way come to their end: their databases go with them. */
  interrupt(): void {
    this.interrupted = true;
    this.stop();
  }

  private stop(): void {
    this.stopped = true;
  }

  /** @returns whether there was no divergence */
  async run(): Promise<boolean> {
    const { concurrency, seed } = this.options;
    say(`seed ${seed}`);
    const workers = Array.from({ length: concurrency }, () => this.work().finally(() => this.stop()));
    for (const outcome of await Promise.allSettled(workers)) if (outcome.status === 'rejected') throw outcome.reason;
    if (this.interrupted) return false;
    const figure = (n: number): string => n.toLocaleString('en');
    const measured =
      `${figure(this.operations)} operations (${figure(this.runs)} runs, seed ${seed}), ` +
      `${figure(this.reads)} more reads to compare what is stored: ${this.divergences} divergences`;
    const kept = this.divergences === 0;
    const promise = 'random operations against a model of the specification';
    record({ promise, measured, kept }, this.options.operations >= FULL);
    return kept;
  }

  private async work(): Promise<void> {
    while (this.operations < this.options.operations && this.divergences === 0 && !this.stopped) {
      const seed = this.options.seed + this.runs++;
      const steps = stepsOf(seed, STEPS);
      const { operations, reads, divergence } = await run(steps);
      this.operations += operations;
      this.reads += reads;
      if (divergence) {
        this.divergences++;
        say(`\nseed ${seed}, step ${divergence.step}: ${divergence.story}\n\nMaking it smaller …`);
        const shrunk = await shrink(steps, divergence);
        const count = shrunk.steps.reduce((sum, step) => sum + operationsOf(step), 0);
        say(`\n${count} operations: ${shrunk.divergence.story}\n\nFor the list of test/tooling/model.spec.ts:`);
        say(`${JSON.stringify(shrunk.steps)},\n`);
      }
      this.progress();
    }
  }

  private progress(): void {
    const seconds = (performance.now() - this.started) / 1000;
    if (seconds < this.told + 10) return;
    this.told = seconds;
    const rate = Math.round(this.operations / seconds);
    say(`${this.operations} operations in ${this.runs} runs, ${Math.round(seconds)} s: ${rate} a second`);
  }
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const proof = new Proof(readOptions());
  process.once('SIGINT', () => proof.interrupt()).once('SIGTERM', () => proof.interrupt());
  await setUp();
  try {
    process.exitCode = (await proof.run()) ? 0 : 1;
  } finally {
    await globalThis.tearDownTests?.();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
