import { Divergence, run } from './run';
import type { Step } from './steps';

/** Attempts at making a failure smaller, of a second or so each. */
const ATTEMPTS = 300;

/** Steps that still diverge when little of them can be left out, and how. */
interface Shrunk {
  steps: Step[];
  divergence: Divergence;
}

/**
 * Leaves out steps, requests of steps and parts of bodies for as long as the model and the server part. A divergence
 * that does not come again (requests made at once may meet in another way) is given back as it was found.
 * @param attempts how often the steps may be run
 */
export async function shrink(steps: Step[], divergence: Divergence, attempts = ATTEMPTS): Promise<Shrunk> {
  let smallest: Shrunk = { steps: steps.slice(0, divergence.step + 1), divergence };
  let left = attempts;
  const keep = async (smaller: Step[]): Promise<boolean> => {
    if (left-- <= 0) return false;
    const { divergence: found } = await run(smaller);
    if (found?.story.split(' ')[0] !== divergence.story.split(' ')[0]) return false;
    if (found) smallest = { steps: smaller.slice(0, found.step + 1), divergence: found };
    return found !== undefined;
  };
  for (let size = smallest.steps.length >> 1; size >= 1; size = size > 1 ? (size + 1) >> 1 : 0) {
    for (let from = 0; from < smallest.steps.length;) {
      const without = smallest.steps.toSpliced(from, size);
      if (without.length === 0 || !(await keep(without))) from += size;
    }
  }
  for (let index = 0; index < smallest.steps.length; index++) {
    const simpler = async (): Promise<boolean> => {
      const step = smallest.steps[index];
      for (const smaller of step ? simplerSteps(step) : []) {
        if (await keep(smallest.steps.with(index, smaller))) return true;
      }
      return false;
    };
    while (left > 0 && (await simpler())); // again and again from the smaller one
  }
  return smallest;
}

/** A step with one request, one field or one element less. */
function simplerSteps(step: Step): Step[] {
  if ('calls' in step) {
    const fewer =
      step.calls.length > 1 ? step.calls.map((_, index) => ({ calls: step.calls.toSpliced(index, 1) })) : [];
    const lighter = step.calls.flatMap((call, index) => {
      const { payload } = call;
      const payloads = payload && 'json' in payload ? without(payload.json).map((json) => ({ json })) : [];
      const queries = call.query.map((_, at) => ({ ...call, query: call.query.toSpliced(at, 1) }));
      const calls = [...payloads.map((each) => ({ ...call, payload: each })), ...queries];
      return calls.map((each) => ({ calls: step.calls.with(index, each) }));
    });
    return [...fewer, ...lighter];
  }
  if (step.command !== 'import') return [];
  return Object.entries(step.dataset).flatMap(([section, records]) =>
    records.map((_, index) => ({ ...step, dataset: { ...step.dataset, [section]: records.toSpliced(index, 1) } })),
  );
}

/** Every value that lacks one field or element of this one, at any depth. */
function without(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || '$' in value) return [];
  if (Array.isArray(value)) {
    const shorter = value.map((_, index): unknown => value.toSpliced(index, 1));
    return [
      ...shorter,
      ...value.flatMap((each, index) => without(each).map((less): unknown => value.with(index, less))),
    ];
  }
  return Object.entries(value).flatMap(([name, each]) => {
    const { [name]: _, ...rest } = value as Record<string, unknown>;
    return [rest, ...without(each).map((less) => ({ ...value, [name]: less }))];
  });
}
