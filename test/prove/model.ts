import 'reflect-metadata';
import { randomInt } from 'node:crypto';
import { readOptions } from '../../scripts/services.mjs';
import setUp from '../support/global-setup';
import { run, untried } from './model/run';
import { record } from './results';

/**
 * Random operations against a model of the specification, until the first divergence. `--seed` of a divergence,
 * `--operations 1` and `--concurrency 1` repeat its run.
 */

/** Steps of a run, which starts with an empty database: enough for lists of several pages. */
const STEPS = 2000;
/** Operations of a result to publish. */
const FULL = 1_000_000;
const PROGRESS_MS = 10_000;

const options = readOptions({
  operations: { type: 'string', default: '100000' },
  seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
  // runs at a time, each on a server of its own
  concurrency: { type: 'string', default: '4' },
}) as { operations: number; seed: number; concurrency: number };

let [runs, operations, reads] = [0, 0, 0];
let divergence: string | undefined;
let isInterrupted = false;
const unknownFields = new Set<string>();
// Runs come to their end: their databases go with them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isInterrupted = true));

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const figure = (n: number): string => n.toLocaleString('en');

async function work(): Promise<void> {
  while (operations < options.operations && divergence === undefined && !isInterrupted) {
    const seed = options.seed + runs++;
    const outcome = await run(seed, STEPS);
    operations += outcome.operations;
    reads += outcome.reads;
    for (const name of outcome.unknownFields) unknownFields.add(name);
    if (!outcome.divergence) continue;
    divergence = outcome.divergence;
    say(divergence);
  }
}

async function main(): Promise<number> {
  say(`seed ${options.seed}`);
  const progress = setInterval(() => say(`${figure(operations)} operations in ${runs} runs`), PROGRESS_MS);
  await setUp();
  try {
    await Promise.all(Array.from({ length: options.concurrency }, work));
  } finally {
    clearInterval(progress);
    await globalThis.tearDownTests?.();
  }
  if (isInterrupted) return 130;
  const untold = untried(unknownFields);
  const measured =
    `${figure(operations)} operations (${figure(runs)} runs, seed ${options.seed}), ${figure(reads)} more reads to ` +
    `compare what is stored: ${divergence === undefined ? 0 : 1} divergences${untold && `; ${untold}`}`;
  const kept = divergence === undefined;
  const promise = 'random operations against a model of the specification';
  record({ promise, measured, kept }, options.operations >= FULL);
  return kept ? 0 : 1;
}

void main().then((status) => process.exit(status));
