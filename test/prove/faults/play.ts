import { record } from '../results';
import { spread } from '../support/figures';
import type { Damage } from './invariants';
import { type Fault, type Played, Stage } from './stage';

const SHOWN = 20;

/** The present stage, to be taken down also after Ctrl-C. */
let stage: Stage | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void Promise.resolve(stage?.end()).finally(() => process.exit(130)));
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface Outcome {
  kept: boolean;
  /** lines of logs that hold a canary */
  leaks: string[];
}

/**
 * Plays a fault, reads back what was acknowledged, prints what came out and records it.
 * @param scale in full counts
 * @param keep whether the logs stay
 */
export async function play(fault: Fault, scale: number, seed: number, keep = false): Promise<Outcome> {
  stage = new Stage(Math.max(1, Math.round(fault.times * scale)), seed, keep);
  let outcome: Outcome = { kept: false, leaks: [] };
  let measured: string;
  try {
    const played = await fault.play(stage);
    const damage = await stage.damage();
    const leaks = await stage.leaks();
    const complaints = [...played.broken, ...Object.values(damage ?? {}).flat(), ...leaks];
    measured = figuresOf(played, damage, stage.acknowledged);
    outcome = { kept: complaints.length === 0, leaks };
    say(`    ${stage.answers.toString()}`);
    for (const complaint of complaints.slice(0, SHOWN)) say(`    ${complaint.slice(0, 200)}`);
  } catch (error) {
    say(error instanceof Error ? String(error.stack) : String(error));
    measured = `ended by an error: ${String(error)}`;
  } finally {
    await stage.end();
  }
  record({ promise: fault.promise, measured, kept: outcome.kept }, scale >= 1);
  return outcome;
}

function figuresOf({ measured, recoveredMs = [] }: Played, damage: Damage | undefined, acknowledged: number) {
  const checked =
    damage &&
    `${acknowledged} acknowledged writes checked; ${damage.lost.length} lost, ${damage.duplicates.length} duplicates, ` +
      `${damage.halves.length} half-applied`;
  const recovery = recoveredMs.length > 0 && `recovery ${spread(recoveredMs)}`;
  return [measured, checked, recovery].filter(Boolean).join('; ');
}
