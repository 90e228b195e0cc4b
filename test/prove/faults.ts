import { readOptions, refuse } from '../../scripts/services.mjs';
import { postgresAway, redisAway } from './faults/away';
import { oneKey, revocation } from './faults/buckets';
import { lostReplies, upserts } from './faults/clients';
import { importBesideBooth } from './faults/imports';
import { apiKilled, postgresKilled, redisKilled, sigterm } from './faults/killed';
import { play } from './faults/play';
import { redisCluster } from './faults/redis-cluster';
import { record } from './results';

/** Plays faults one after another, each with services and clients of its own. */

const FAULTS = [
  apiKilled,
  postgresKilled,
  redisKilled,
  postgresAway,
  redisAway,
  redisCluster,
  sigterm,
  oneKey,
  upserts,
  revocation,
  lostReplies,
  importBesideBooth,
];
const NAMES = FAULTS.map(({ name }) => name);

const { times, seed, ...values } = readOptions({
  only: { type: 'string', default: NAMES.join() },
  // 1 is the full count
  times: { type: 'string', default: '1' },
  keep: { type: 'boolean', default: false },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
}) as { only: string; times: number; keep: boolean; seed: number };
const only = values.only.split(',');

async function main(): Promise<number> {
  const unknown = only.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) refuse(`--only ${NAMES.join()}, not ${unknown.join()}`);
  process.stdout.write(`seed ${seed}, ${times} of the full count\n`);
  const begun = performance.now();
  const outcomes = [];
  for (const fault of FAULTS.filter(({ name }) => only.includes(name))) {
    outcomes.push(await play(fault, times, seed, values.keep));
  }
  const leaks = outcomes.flatMap((outcome) => outcome.leaks).length;
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const measured = `${leaks} occurrences, ${outcomes.length} faults, ${minutes} minutes`;
  // A part of the faults says nothing about the others.
  const isOfAll = times >= 1 && only.length === FAULTS.length;
  record({ promise: 'canaries in every field and key', measured, kept: leaks === 0 }, isOfAll);
  return outcomes.every(({ kept }) => kept) ? 0 : 1;
}

void main().then((status) => (process.exitCode = status));
