import { parseArgs } from 'node:util';
import { postgresAway, redisAway } from './faults/away';
import { apiKilled, postgresKilled, redisKilled } from './faults/killed';
import { apiStopped, clockJumps, diskFull, postgresRestarted } from './faults/machine';
import { oneKey, revocation, upserts } from './faults/many';
import { halfOpen, lostReplies, slowClients } from './faults/network';
import { type Fault, type Played, Stage } from './faults/stage';
import { row, sum, verdictOf } from './faults/report';
import { migrating, starts } from './faults/starts';
import { sigterm, sigtermAtOnce, sigtermBehindHaproxy } from './faults/stopping';
import { record } from './results';

const FAULTS: Fault[] = [
  apiKilled,
  postgresKilled,
  redisKilled,
  postgresAway,
  redisAway,
  sigterm,
  sigtermAtOnce,
  sigtermBehindHaproxy,
  oneKey,
  upserts,
  revocation,
  lostReplies,
  halfOpen,
  slowClients,
  postgresRestarted,
  apiStopped,
  starts,
  migrating,
  diskFull,
  clockJumps,
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    times: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const scale = Number(values.times);
const isFull = scale >= 1;
const seed = Number(values.seed);
const only = values.only ? values.only.split(',') : FAULTS.map(({ name }) => name);
const unknown = only.filter((name) => !FAULTS.some((fault) => fault.name === name));
if (!(scale > 0) || !Number.isInteger(seed) || unknown.length > 0) {
  process.stderr.write(
    `--times N (1 is the full count), --seed N, --keep (the logs), --only ${FAULTS.map(({ name }) => name).join(',')}\n`,
  );
  process.exit(2);
}

/** The one that is up, to be taken down also after Ctrl-C. */
let stage: Stage | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(stage?.end()).finally(() => process.exit(130)));
}

/** Lines in logs that hold a canary, through all faults of this run. */
const leaks: string[] = [];
/** Faults that could be played here, to their end. */
let count = 0;

async function play(fault: Fault): Promise<boolean> {
  const times = Math.max(1, Math.round(fault.times * scale));
  stage = new Stage(times, seed, values.keep);
  try {
    const played = await fault.play(stage);
    const checked = played.skipped ? [] : await stage.checks();
    const found = await stage.leaks();
    leaks.push(...found.map((line) => `${fault.name}: ${line}`));
    const { kept, measured, complaints } = verdictOf(played, checked, found);
    row(fault.name, played, sum(stage.answers, played), checked, kept);
    for (const complaint of complaints.slice(0, 20)) process.stdout.write(`    ${complaint}\n`);
    if (!played.skipped) count++;
    if (fault.promise && !played.skipped) record({ promise: fault.promise, measured, kept }, isFull);
    return kept;
  } catch (error) {
    return failed(fault, error as Error);
  } finally {
    await stage.end();
  }
}

function failed(fault: Fault, error: Error): boolean {
  const played: Played = { measured: `ended by an error: ${error.message}`, broken: [error.message] };
  row(fault.name, played, new Map(), [], false);
  process.stdout.write([error.stack, ...(stage?.lastWords() ?? []), ''].join('\n'));
  if (fault.promise) record({ promise: fault.promise, measured: played.measured, kept: false }, isFull);
  return false;
}

async function main(): Promise<void> {
  const begun = performance.now();
  process.stdout.write(`seed ${seed}, ${scale} of the full count\n`);
  let kept = true;
  for (const fault of FAULTS.filter(({ name }) => only.includes(name))) kept = (await play(fault)) && kept;
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  for (const line of leaks.slice(0, 20)) process.stdout.write(`    in a log: ${line}\n`);
  const measured = `${leaks.length} occurrences, ${count} faults, ${minutes} minutes`;
  // A part of the faults says nothing about the others.
  const isOfAll = isFull && only.length === FAULTS.length;
  record({ promise: 'canaries in every field and key', measured, kept: leaks.length === 0 }, isOfAll);
  process.exitCode = kept ? 0 : 1;
}

void main();
