import { run } from './run';

/** Steps of a run: about as many operations, and a comparison of everything at its end. */
const STEPS = Number(process.env.MODEL_STEPS ?? 400);
const SEED = Number(process.env.MODEL_SEED ?? 1);

/** Leads, batches and the catalogue: what has rules. A longer run: `MODEL_STEPS=20000 MODEL_SEED=7 npm test -- model/`. */
describe('random operations against a model of the specification', () => {
  it.each([SEED, SEED + 1])(
    'find no divergence from seed %i',
    async (seed) => {
      const { operations, divergence } = await run(seed, STEPS);
      expect(divergence).toBeUndefined();
      expect(operations).toBeGreaterThanOrEqual(STEPS);
    },
    600_000,
  );
});
