import { run, untried } from '../prove/model/run';

/** Steps of a run: about as many operations, and a comparison of everything at its end. */
const STEPS = 400;

/** The short run of what prove/model.ts does for long. */
describe('random operations against a model of the specification', () => {
  const unknownFields = new Set<string>();
  afterAll(() => {
    const said = untried(unknownFields);
    if (said) process.stderr.write(`${said}\n`);
  });

  it.each([1, 2, 3])('find no divergence from seed %i', async (seed) => {
    const outcome = await run(seed, STEPS);
    for (const name of outcome.unknownFields) unknownFields.add(name);
    expect(outcome.divergence).toBeUndefined();
  });
});
