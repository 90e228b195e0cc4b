import type { EndpointName, Payload } from '../../prove/model/endpoints';
import { stepsOf } from '../../prove/model/operations';
import { run } from '../../prove/model/run';
import type { Step, SymbolicCall } from '../../prove/model/steps';

/** The short run of what prove/model.ts does for long. */

/** Steps of a run: about as many operations, and a comparison of everything at its end. */
const STEPS = 400;

const event = {
  ...{ eventName: 'Ada', eventType: 'DINNER_MEAL', startDate: '2026-05-04', endDate: '2026-05-04' },
  createdByEmail: 'ada@example.com',
};
const activation = {
  ...{ id: '00000000-0000-4000-8000-000000003000', name: 'Ada', type: 'BOOTH', startDate: '2026-05-04' },
  ...{ endDate: '2026-05-04', startTime: '09:00:00', endTime: '18:00:00', createdAt: '2020-01-01T00:00:00.000Z' },
};

/** A request of the first organization. */
const call = (endpoint: EndpointName, payload?: Payload): SymbolicCall => ({
  ...{ endpoint, key: { organization: 0 }, ids: [], query: [], payload },
});

/** What once parted the server and the model, as prove/model.ts printed it: why, and the steps. */
const KEPT: [why: string, steps: Step[]][] = [
  [
    'tokens are taken in one order, and what requests at once do is seen in another',
    [
      { calls: [call('createEvent', { json: event })] },
      { command: 'issueKey', organization: 0, expired: false, maxTokens: 3, refillRate: 0.001 },
      {
        calls: [
          { ...call('deleteEvent'), key: { extra: 0 }, ids: [{ $: 'event', n: 0 }] },
          { ...call('listEventLeads'), key: { extra: 0 }, ids: [{ $: 'event', n: 0 }] },
        ],
      },
    ],
  ],
  [
    'a path and a body are both at fault',
    [
      {
        calls: [
          {
            ...call('updateIndustryEvent', { json: { boothCost: '\ud800 lone' } }),
            ids: [{ $: 'industryEvent', n: 0, of: 'malformed' }],
          },
        ],
      },
    ],
  ],
  [
    'a refused import names no events',
    [
      {
        command: 'import',
        organization: 0,
        dataset: {
          events: [{ ref: 'ref-0', name: 'Ada', type: 'OTHER', createdAt: '2020-01-01T00:00:00.000Z' }],
          activations: [{ ...activation, event: 'ref-1' }],
        },
      },
    ],
  ],
];

describe('random operations against a model of the specification', () => {
  it.each([1, 2, 3])('find no divergence from seed %i', async (seed) => {
    expect((await run(stepsOf(seed, STEPS))).divergence).toBeUndefined();
  });

  it.each(KEPT)('part no more where %s', async (_, steps) => {
    expect((await run(steps)).divergence).toBeUndefined();
  });
});
