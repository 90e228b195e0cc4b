import { parseArgs } from 'node:util';
import { halfOpen, postgresAway, redisAway } from './faults/away';
import { oneKey, revocation } from './faults/buckets';
import { lostReplies, slowClients, upserts } from './faults/clients';
import { apiKilled, apiStopped, postgresKilled, postgresRestarted, redisKilled } from './faults/killed';
import { type Fault, Stage } from './faults/stage';
import { sigterm, sigtermAtOnce } from './faults/stopping';
import { record } from './results';
import { spread } from './support/figures';

/** Plays faults one after another, each with services and clients of its own, and reads back what was acknowledged. */

const FAULTS: Fault[] = [
  ...[apiKilled, postgresKilled, redisKilled, postgresAway, redisAway, sigterm, sigtermAtOnce, oneKey, upserts],
  ...[revocation, lostReplies, halfOpen, slowClients, postgresRestarted, apiStopped],
];
const NAMES = FAULTS.map(({ name }) => name);
const SHOWN = 20;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: NAMES.join() },
    times: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const scale = Number(values.times);
const isFull = scale >= 1;
const seed = Number(values.seed);
const only = values.only.split(',');
if (!(scale > 0) || !Number.isInteger(seed) || !only.every((name) => NAMES.includes(name))) {
  process.stderr.write(`--times N (1 is the full count), --seed N, --keep (the logs), --only ${NAMES.join()}\n`);
  process.exit(2);
}

/** The present one, to be taken down also after Ctrl-C. */
let stage: Stage | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(stage?.end()).finally(() => process.exit(130)));
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Outcome {
  kept: boolean;
  /** lines of logs that hold a canary */
  leaks: string[];
}

async function play(fault: Fault): Promise<Outcome> {
  stage = new Stage(Math.max(1, Math.round(fault.times * scale)), seed, values.keep);
  try {
    const { measured, broken, answers, recoveredMs = [] } = await fault.play(stage);
    const damage = await stage.damage();
    const leaks = await stage.leaks();
    const [lost, duplicates, halves] = (['lost', 'duplicates', 'halves'] as const).map((kind) =>
      damage.flatMap((each) => each[kind]),
    ) as [string[], string[], string[]];
    const others = damage.flatMap((each) => each.others);
    const complaints = [...broken, ...lost, ...duplicates, ...halves, ...others, ...leaks];
    const figures = [measured];
    if (damage.length > 0) {
      figures.push(`${stage.acknowledged} acknowledged writes checked`);
      figures.push(`${lost.length} lost, ${duplicates.length} duplicates, ${halves.length} half-applied`);
    }
    if (recoveredMs.length > 0) figures.push(`recovery ${spread(recoveredMs)}`);
    const kept = complaints.length === 0;
    const all = [...stage.answers, ...(answers ? [answers] : [])];
    say(`${fault.name}: ${kept ? 'kept' : 'BROKEN'}: ${figures.join('; ')}`);
    for (const each of all) say(`    answers: ${each.toString()}`);
    for (const complaint of complaints.slice(0, SHOWN)) say(`    ${complaint.slice(0, 200)}`);
    if (fault.promise) record({ promise: fault.promise, measured: figures.join('; '), kept }, isFull);
    return { kept, leaks };
  } catch (error) {
    say(`${fault.name}: ${error instanceof Error ? error.stack : String(error)}`);
    const measured = `ended by an error: ${String(error)}`;
    if (fault.promise) record({ promise: fault.promise, measured, kept: false }, isFull);
    return { kept: false, leaks: [] };
  } finally {
    await stage.end();
  }
}

async function main(): Promise<void> {
  const begun = performance.now();
  say(`seed ${seed}, ${scale} of the full count`);
  const outcomes: Outcome[] = [];
  for (const fault of FAULTS.filter(({ name }) => only.includes(name))) outcomes.push(await play(fault));
  const leaks = outcomes.flatMap((outcome) => outcome.leaks).length;
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const measured = `${leaks} occurrences, ${outcomes.length} faults, ${minutes} minutes`;
  // A part of the faults says nothing about the others.
  const isOfAll = isFull && only.length === FAULTS.length;
  record({ promise: 'canaries in every field and key', measured, kept: leaks === 0 }, isOfAll);
  process.exitCode = outcomes.every(({ kept }) => kept) ? 0 : 1;
}

void main();
