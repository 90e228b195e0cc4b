import fc, { Arbitrary } from 'fast-check';
import * as bodies from './bodies';
import { datasets, firstDatasets } from './datasets';
import { ENDPOINTS, EndpointName, IdKind, Payload } from './endpoints';
import type { Reference } from './references';
import { ACTIVITY_TYPES } from './rules';
import type { Command, KeyChoice, Step, SymbolicCall } from './steps';

/** Random steps: mostly requests that make sense together, some at their edges, some wrong. */

const weighted = <T>(...choices: [weight: number, arbitrary: Arbitrary<T>][]): Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Mostly one of the newest few, so that operations meet. */
const place = weighted<number>([8, fc.nat(3)], [2, fc.nat(200)]);

const reference = (kind: IdKind): Arbitrary<Reference> =>
  weighted<Reference['of']>(
    [80, fc.constant('own')],
    [5, fc.constantFrom('upper', 'unknown', 'malformed')],
    [8, fc.constantFrom('gone', 'foreign', 'foreign')],
  ).chain((of) => place.map((n): Reference => ({ $: kind, n, of })));

/** The first organizations see most of what happens. */
const organization = weighted<number>([6, fc.constant(0)], [3, fc.constant(1)], [1, fc.nat(4)]);

const key: Arbitrary<KeyChoice> = weighted<KeyChoice>(
  [90, organization.map((n) => ({ organization: n }))],
  [8, fc.nat(4).map((n) => ({ extra: n }))],
  [
    2,
    fc
      .constantFrom<string[]>([], [''], [' '], ['lan_unknown'], [`lan_${'0'.repeat(49)}`], ['a', 'b'])
      .map((values) => ({ values })),
  ],
);

type Query = SymbolicCall['query'];

const count = weighted<string>(
  [8, fc.nat({ max: 60 }).map(String)],
  [1, fc.constantFrom('50', '51', '9'.repeat(30), '2147483647', '2147483648', '007')],
  [1, fc.constantFrom('', '-1', '1.5', 'x', ' 5', '1e1', '0x10', '+1', '٣')],
);
const paging: Arbitrary<Query> = weighted<Query>(
  [3, fc.constant([])],
  [
    4,
    fc.tuple(fc.nat(12), fc.nat(4)).map(([n, m]): Query => [
      ['limit', `${n + 1}`],
      ['offset', `${m}`],
    ]),
  ],
  [2, fc.tuple(fc.constantFrom('limit', 'offset', 'other'), count).map((pair): Query => [pair])],
  [
    1,
    fc.tuple(count, count).map(([n, m]): Query => [
      ['limit', n],
      ['limit', m],
    ]),
  ],
);

const leadFilter: Arbitrary<Query> = reference('lead').map((lead): Query => [['leadId', lead]]);
const typeFilter: Arbitrary<Query> = fc
  .constantFrom('NOTE', 'CAMPAIGN_ASSOCIATION', 'note', '', ...ACTIVITY_TYPES.slice(0, 4))
  .map((type): Query => [['eventType', type]]);

const terms = fc.array(weighted<string>([5, bodies.word], [1, bodies.word.map((word) => `-${word}`)]), {
  maxLength: 1,
});
const alternative = fc.tuple(bodies.word, terms).map(([first, rest]) => [first, ...rest].join(' '));
const q = weighted<string>(
  [8, alternative],
  [2, fc.tuple(alternative, alternative).map((both) => both.join(' or '))],
  [1, fc.constantFrom('', ' ', 'zzznowhere', '\0')],
);

const QUERIES: Partial<Record<EndpointName, Arbitrary<Query>[]>> = {
  listActivities: [leadFilter, typeFilter],
  listIndustryEvents: [
    weighted<Query>(
      [20, q.map((text) => [['q', text]])],
      [1, fc.tuple(q, q).map((both) => both.map((text) => ['q', text]))],
    ),
    bodies.eventUrl.map((url): Query => [['eventUrl', url ?? 'https://example.com/none']]),
  ],
};

function queryOf(endpoint: EndpointName): Arbitrary<Query> {
  if (!endpoint.startsWith('list') || endpoint === 'listBookmarks') return fc.constant([]);
  const more = (QUERIES[endpoint] ?? []).map((filter) => fc.oneof(fc.constant([]), filter, filter));
  return fc.tuple(paging, ...more).map((parts) => parts.flat());
}

const BODIES: Partial<Record<EndpointName, Arbitrary<unknown>>> = {
  createEvent: bodies.eventCreate,
  replaceEvent: bodies.eventUpdate,
  associateLeads: bodies.eventLeads(reference('lead')),
  createLead: bodies.leadCreate,
  patchLead: bodies.leadPatch,
  createIndustryEvent: bodies.industryEventCreate,
  updateIndustryEvent: bodies.industryEventUpdate,
};

const payloadOf = (body: Arbitrary<unknown>): Arbitrary<Payload> =>
  weighted<Payload>(
    [97, body.map((json) => ({ json }))],
    [1, fc.constantFrom('', '{', '[]', 'null', '"text"', '5', '{"a":1}}', '[{}]').map((text) => ({ text }))],
    [1, body.map((otherType) => ({ otherType }))],
    [1, fc.constantFrom<unknown>([], [{}], null, 5).map((json) => ({ json }))],
  );

/** Mostly an association that there is. */
const association = place.map((n): Reference[] => [
  { $: 'event', n, of: 'associated' },
  { $: 'lead', n, of: 'associated' },
]);

function idsOf(endpoint: EndpointName): Arbitrary<Reference[]> {
  const ids = fc.tuple(...ENDPOINTS[endpoint].ids.map(reference));
  return endpoint === 'dissociateLead' ? weighted<Reference[]>([2, association], [1, ids]) : ids;
}

function callOf(endpoint: EndpointName): Arbitrary<SymbolicCall> {
  const body = BODIES[endpoint];
  const ids = idsOf(endpoint);
  if (!body) return fc.record({ endpoint: fc.constant(endpoint), key, ids, query: queryOf(endpoint) });
  return fc.record({
    ...{ endpoint: fc.constant(endpoint), key, ids, query: fc.constant<Query>([]) },
    payload: payloadOf(body),
  });
}

/** How often each endpoint is asked; deletions are fewer than creations, so that lists grow. */
const OFTEN: Partial<Record<EndpointName, number>> = {
  ...{ createEvent: 5, createLead: 10, createIndustryEvent: 6, associateLeads: 12, patchLead: 10 },
  ...{ updateIndustryEvent: 6, dissociateLead: 5, replaceEvent: 4, listEventLeads: 6, listIndustryEvents: 8 },
  ...{ deleteEvent: 2, deleteLead: 4, listActivities: 10, addBookmark: 4 },
};

const call = weighted<SymbolicCall>(
  ...(Object.keys(ENDPOINTS) as EndpointName[]).map((endpoint): [number, Arbitrary<SymbolicCall>] => [
    OFTEN[endpoint] ?? 3,
    callOf(endpoint),
  ]),
);

/** Requests that are made at once, all of one organization's things or of several. */
const together = fc.array(call, { minLength: 2, maxLength: 4 });

/** Requests at once that write what is newest, so that they meet. */
const clash = fc
  .constantFrom<EndpointName[]>(
    ['associateLeads', 'deleteLead', 'dissociateLead', 'listEventLeads', 'deleteEvent'],
    ['patchLead', 'deleteLead', 'getLead', 'listLeads', 'createLead'],
    ['createIndustryEvent', 'updateIndustryEvent', 'listIndustryEvents', 'addBookmark', 'listBookmarks'],
    ['createEvent', 'listEvents', 'deleteEvent', 'replaceEvent', 'getEvent'],
    ['createLead'],
    ['createIndustryEvent'],
    ['associateLeads'],
  )
  .chain((names) =>
    fc
      .array(fc.constantFrom(...names).chain(callOf), { minLength: 2, maxLength: 4 })
      .map((calls) => calls.map((each) => ({ ...each, ids: each.ids.map((id) => ({ ...id, n: id.n % 2 })) }))),
  );

const command: Arbitrary<Command> = weighted<Command>(
  [1, fc.constant({ command: 'createOrganization' })],
  [
    6,
    fc.record({
      ...{ command: fc.constant('issueKey' as const), organization, expired: fc.nat(9).map((n) => n === 0) },
      ...{ maxTokens: fc.integer({ min: 1, max: 5 }), refillRate: fc.constant(0.001) },
    }),
  ],
  [
    4,
    fc.record({
      ...{ command: fc.constant('issueKey' as const), organization, expired: fc.constant(false) },
      ...{ maxTokens: fc.constantFrom(1_000_000, 9_000_000), refillRate: fc.constant(1_000_000) },
    }),
  ],
  [3, fc.record({ command: fc.constant('setLimits'), key: fc.nat(3), maxTokens: fc.integer({ min: 1, max: 6 }) })],
  [3, fc.record({ command: fc.constant('rotateKey'), key: fc.nat(3), overlap: fc.constantFrom(0, 3600) })],
  [3, fc.record({ command: fc.constant('revokeKey'), key: fc.nat(3) })],
  [22, fc.record({ command: fc.constant('import'), organization, dataset: datasets(place) })],
  [3, fc.record({ command: fc.constant('exportAndImport'), organization })],
);

const step: Arbitrary<Step> = weighted<Step>(
  [150, call.map((each) => ({ calls: [each] }))],
  [6, together.map((calls) => ({ calls }))],
  [6, clash.map((calls) => ({ calls }))],
  [7, command],
);

/** What only an import makes is there from the beginning. */
const beginning: Arbitrary<Step[]> = fc
  .tuple(firstDatasets(place), firstDatasets(place))
  .map((both) =>
    both.flatMap((some, organization) => some.map((dataset): Step => ({ command: 'import', organization, dataset }))),
  );

/** The steps of a run: always the same ones for a seed. */
export const stepsOf = (seed: number, count: number): Step[] => [
  ...fc.sample(beginning, { seed, numRuns: 3 }).flat(),
  ...fc.sample(step, { seed, numRuns: count }),
];
