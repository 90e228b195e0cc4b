import fc, { type Arbitrary } from 'fast-check';
import * as bodies from './bodies';
import { datasets, firstDatasets } from './datasets';
import { type EndpointName, ENDPOINTS, type IdKind, type Payload } from './endpoints';
import type { Reference } from './references';
import { ACTIVITY_TYPES } from './rules';
import type { Command, Step, SymbolicCall } from './steps';

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

const WRONG_KEYS = [[], [''], [' '], ['lan_unknown'], [`lan_${'0'.repeat(49)}`], ['a', 'b']];
const key = weighted<SymbolicCall['key']>(
  [90, organization.map((n) => ({ organization: n }))],
  [8, fc.nat(4).map((extra) => ({ extra }))],
  [2, fc.constantFrom(...WRONG_KEYS).map((values) => ({ values }))],
);

type Query = SymbolicCall['query'];

const count = weighted<string>(
  [8, fc.nat({ max: 60 }).map(String)],
  [1, fc.constantFrom('50', '51', '9'.repeat(30), '2147483647', '2147483648', '007')],
  [1, fc.constantFrom('', '-1', '1.5', 'x', ' 5', '1e1', '0x10', '+1', '٣')],
);
const parameters = (name: string, value: Arbitrary<string>): Arbitrary<Query> => value.map((each) => [[name, each]]);
const paging = weighted<Query>(
  [3, fc.constant([])],
  [4, fc.tuple(fc.nat(12), fc.nat(4)).map(([n, m]) => Object.entries({ limit: `${n + 1}`, offset: `${m}` }))],
  [2, fc.constantFrom('limit', 'offset', 'other').chain((name) => parameters(name, count))],
  [1, fc.tuple(parameters('limit', count), parameters('limit', count)).map((both) => both.flat())],
);

const alternative = fc
  .tuple(
    bodies.word,
    weighted<string>([2, fc.constant('')], [2, bodies.word], [1, bodies.word.map((each) => `-${each}`)]),
  )
  .map((terms) => terms.join(' ').trim());
const q = weighted<string>(
  [8, alternative],
  [2, fc.tuple(alternative, alternative).map((both) => both.join(' or '))],
  [1, fc.constantFrom('', ' ', 'zzznowhere', '\0')],
);
const eventType = fc.constantFrom('NOTE', 'CAMPAIGN_ASSOCIATION', 'note', '', ...ACTIVITY_TYPES.slice(0, 4));

const FILTERS: Partial<Record<EndpointName, Arbitrary<Query>[]>> = {
  listActivities: [reference('lead').map((lead): Query => [['leadId', lead]]), parameters('eventType', eventType)],
  listIndustryEvents: [
    parameters('q', q),
    parameters(
      'eventUrl',
      bodies.eventUrl.map((url) => url ?? 'https://example.com/none'),
    ),
  ],
};

function queryOf(endpoint: EndpointName): Arbitrary<Query> {
  if (!endpoint.startsWith('list') || endpoint === 'listBookmarks') return fc.constant([]);
  const filters = (FILTERS[endpoint] ?? []).map((filter) => fc.oneof(fc.constant([]), filter, filter));
  return fc.tuple(paging, ...filters).map((parts) => parts.flat());
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
  );

/** Mostly an association that there is. */
const association = place.map((n): Reference[] => [
  { $: 'event', n, of: 'associated' },
  { $: 'lead', n, of: 'associated' },
]);

function callOf(endpoint: EndpointName): Arbitrary<SymbolicCall> {
  const any: Arbitrary<Reference[]> = fc.tuple(...ENDPOINTS[endpoint].ids.map(reference));
  const ids = endpoint === 'dissociateLead' ? weighted<Reference[]>([2, association], [1, any]) : any;
  const body = BODIES[endpoint];
  const call = { endpoint: fc.constant(endpoint), key, ids, query: queryOf(endpoint) };
  return body ? fc.record({ ...call, payload: payloadOf(body) }) : fc.record(call);
}

/** How often each endpoint is asked; deletions are fewer than creations, so that lists grow. */
const OFTEN: Partial<Record<EndpointName, number>> = {
  ...{ createEvent: 5, createLead: 10, createIndustryEvent: 6, associateLeads: 12, patchLead: 10 },
  ...{ updateIndustryEvent: 6, dissociateLead: 5, replaceEvent: 4, listEventLeads: 6, listIndustryEvents: 8 },
  ...{ deleteEvent: 2, deleteLead: 4, listActivities: 10, addBookmark: 4 },
};
const NAMES = Object.keys(ENDPOINTS) as EndpointName[];
const call = weighted<SymbolicCall>(
  ...NAMES.map((name) => [OFTEN[name] ?? 3, callOf(name)] as [number, Arbitrary<SymbolicCall>]),
);

const atOnce = (calls: Arbitrary<SymbolicCall>) => fc.array(calls, { minLength: 2, maxLength: 4 });

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
  .chain((names) => atOnce(fc.constantFrom(...names).chain(callOf)))
  .map((calls) => calls.map((each) => ({ ...each, ids: each.ids.map((id) => ({ ...id, n: id.n % 2 })) })));

const issueKey = { command: fc.constant('issueKey' as const), organization };
const limited = { maxTokens: fc.integer({ min: 1, max: 5 }), refillRate: fc.constant(0.001) };
const unlimited = { maxTokens: fc.constantFrom(1_000_000, 9_000_000), refillRate: fc.constant(1_000_000) };
const command: Arbitrary<Command> = weighted<Command>(
  [1, fc.constant({ command: 'createOrganization' })],
  [6, fc.record({ ...issueKey, ...limited, expired: fc.nat(9).map((n) => n === 0) })],
  [4, fc.record({ ...issueKey, ...unlimited, expired: fc.constant(false) })],
  [3, fc.record({ command: fc.constant('revokeKey'), key: fc.nat(3) })],
  [14, fc.record({ command: fc.constant('import'), organization, dataset: datasets(place) })],
);

const step: Arbitrary<Step> = weighted<Step>(
  [150, call.map((each) => ({ calls: [each] }))],
  [6, atOnce(call).map((calls) => ({ calls }))],
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
