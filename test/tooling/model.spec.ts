import { run } from '../prove/model/run';

/** Steps of a run: about as many operations, and a comparison of everything at its end. */
const STEPS = 400;

/** The short run of what prove/model.ts does for long. */
describe('random operations against a model of the specification', () => {
  it.each([1, 2, 3])('find no divergence from seed %i', async (seed) => {
    expect((await run(seed, STEPS)).divergence).toBeUndefined();
  });
});
