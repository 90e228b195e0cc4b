import { parseArgs } from 'node:util';
import { postgresAway, redisAway } from './faults/away';
import { oneKey, revocation } from './faults/buckets';
import { lostReplies, upserts } from './faults/clients';
import { apiKilled, postgresKilled, redisKilled } from './faults/killed';
import { play } from './faults/play';
import { sigterm } from './faults/stopping';
import { record } from './results';

/** Plays faults one after another, each with services and clients of its own. */

const FAULTS = [
  ...[apiKilled, postgresKilled, redisKilled, postgresAway, redisAway],
  ...[sigterm, oneKey, upserts, revocation, lostReplies],
];
const NAMES = FAULTS.map(({ name }) => name);

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: NAMES.join() },
    times: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [scale, seed] = [Number(values.times), Number(values.seed)];
const only = values.only.split(',');

async function main(): Promise<number> {
  if (!(scale > 0) || !Number.isInteger(seed) || !only.every((name) => NAMES.includes(name))) {
    process.stderr.write(`--times N (1 is the full count), --seed N, --keep (the logs), --only ${NAMES.join()}\n`);
    return 2;
  }
  process.stdout.write(`seed ${seed}, ${scale} of the full count\n`);
  const begun = performance.now();
  const outcomes = [];
  for (const fault of FAULTS.filter(({ name }) => only.includes(name))) {
    outcomes.push(await play(fault, { scale, seed, keep: values.keep }));
  }
  const leaks = outcomes.flatMap((outcome) => outcome.leaks).length;
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const measured = `${leaks} occurrences, ${outcomes.length} faults, ${minutes} minutes`;
  // A part of the faults says nothing about the others.
  const isOfAll = scale >= 1 && only.length === FAULTS.length;
  record({ promise: 'canaries in every field and key', measured, kept: leaks === 0 }, isOfAll);
  return outcomes.every(({ kept }) => kept) ? 0 : 1;
}

void main().then((status) => (process.exitCode = status));
