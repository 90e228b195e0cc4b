import { record, type Result } from '../results';
import { formatCount, spread } from '../support/figures';
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
  let figures: Omit<Result, 'promise' | 'kept'>;
  try {
    const played = await fault.play(stage);
    const damage = await stage.damage();
    const leaks = await stage.leaks();
    const complaints = [...played.broken, ...Object.values(damage ?? {}).flat(), ...leaks];
    figures = figuresOf(played, damage, stage.acknowledged);
    outcome = { kept: complaints.length === 0, leaks };
    say(`    ${stage.answers.toString()}`);
    for (const complaint of complaints.slice(0, SHOWN)) say(`    ${complaint.slice(0, 200)}`);
  } catch (error) {
    say(error instanceof Error ? String(error.stack) : String(error));
    figures = { measured: `ended by an error: ${String(error)}` };
  } finally {
    await stage.end();
  }
  record({ promise: fault.promise, kept: outcome.kept, ...figures }, scale >= 1);
  return outcome;
}

function figuresOf(
  { measured, recoveredMs = [], slowestMs }: Played,
  damage: Damage | undefined,
  acknowledged: number,
): Omit<Result, 'promise' | 'kept'> {
  const checked =
    damage &&
    `${formatCount(acknowledged)} acknowledged writes checked: ${damage.lost.length} lost, ` +
      `${damage.duplicates.length} duplicates, ${damage.halves.length} half-applied`;
  const recovery = recoveredMs.length > 0 && `recovery ${spread(recoveredMs)}`;
  const longestMs = recoveredMs.length > 0 ? Math.max(...recoveredMs) : slowestMs;
  return {
    measured: [measured, checked, recovery].filter(Boolean).join('; '),
    writes: damage && { checked: acknowledged, lost: damage.lost.length },
    slowestSeconds: longestMs === undefined ? undefined : Math.round(longestMs / 10) / 100,
  };
}
