import { type Answer, type Call, type EndpointName, ENDPOINTS } from './endpoints';
import { valueAt } from './replies';
import type { State, Tenant } from './records';

/** Requests that only look: what a comparison of what is stored asks. */

const get = (key: string, endpoint: EndpointName, ids: string[] = [], query: Call['query'] = []): Call => ({
  endpoint,
  keys: [key],
  ids,
  query,
});

/** Every page of a list, the last one not full. */
const pages = (key: string, endpoint: EndpointName, length: number, limit: number, ids: string[] = []): Call[] =>
  Array.from({ length: Math.floor(length / limit) + 1 }, (_, offset) =>
    get(key, endpoint, ids, [
      ['limit', String(limit)],
      ['offset', String(offset)],
    ]),
  );

/** Requests that are made at once, at most. */
const MAX_AT_ONCE = 4;
/** Entries of a batch that may be valid, at most. */
const MAX_BATCH_SIZE = 4;

/** Everything that can be read, of every organization; each is made when that before it has been compared. */
export function* audits(state: State): Generator<Call> {
  for (const tenant of state.tenants.list()) {
    const key = state.mainKey(tenant.id);
    yield* [
      ...pages(key, 'listEvents', tenant.events.list().length, 50),
      ...pages(key, 'listLeads', tenant.leads.list().length, 17),
      ...pages(key, 'listLeadActivityEvents', tenant.activities.list().length, 20),
      ...pages(key, 'listActivations', tenant.activations.list().length, 3),
      ...pages(key, 'listTagGroups', tenant.tagGroups.list().length, 2),
      ...pages(key, 'listIndustryEvents', state.catalogue.list().length, 50),
      get(key, 'listBookmarkedIndustryEvents'),
      ...tenant.events
        .list()
        .flatMap(({ shown: { id } }) => [
          ...pages(key, 'listEventLeads', tenant.associationsOf(id).length, 50, [String(id)]),
          get(key, 'listEventUsers', [String(id)]),
        ]),
    ];
    yield* catchUp(tenant, key);
  }
}

/** The newest follower of the feed, until it knows all. */
function* catchUp({ followers }: Tenant, key: string): Generator<Call> {
  do {
    const [cursor] = followers.living();
    yield get(key, 'listChanges', [], Object.entries({ limit: '500', ...(cursor && { cursor }) }));
  } while (followers.list().at(-1)?.hasMore);
}

/** What shows the outcome of requests made at once: each thing that they name or made, who is associated, and places. */
export function settlingReads(state: State, calls: Call[], answers: Answer[]): Call[] {
  const reads = calls.flatMap((call, index) => readsOf(state, call, answers[index]?.body));
  return [...new Map(reads.map((read) => [JSON.stringify(read), read])).values()];
}

function readsOf(state: State, call: Call, answer: unknown): Call[] {
  const organization = state.keys.get(call.keys[0] ?? '')?.organization;
  if (organization === undefined) return [];
  const [tenant, key] = [state.tenant(organization), state.mainKey(organization)];
  const named = call.ids.flatMap((id, index): Call[] => {
    const kind = ENDPOINTS[call.endpoint].ids[index];
    const length = tenant.associationsOf(Number(id)).length + 12;
    if (kind === 'event') return [get(key, 'getEvent', [id]), ...pages(key, 'listEventLeads', length, 50, [id])];
    if (kind === 'lead') return [get(key, 'getLead', [id])];
    return kind === 'industryEvent' ? [get(key, 'getIndustryEvent', [id])] : [];
  });
  const made = valueAt(answer, 'results', 'industryEvent', 'id');
  if (typeof made === 'string') named.push(get(key, 'getIndustryEvent', [made]));
  const written = valueAt(answer, 'results', 'leads');
  if (call.endpoint === 'upsertLeads' && Array.isArray(written)) {
    named.push(...written.map((each) => get(key, 'getLead', [String(valueAt(each, 'lead', 'id'))])));
  }
  const lists: Partial<Record<EndpointName, [EndpointName, number]>> = {
    createEvent: ['listEvents', tenant.events.list().length],
    createLead: ['listLeads', tenant.leads.list().length],
    upsertLeads: ['listLeads', tenant.leads.list().length + MAX_AT_ONCE * MAX_BATCH_SIZE],
    createIndustryEvent: ['listIndustryEvents', state.catalogue.list().length],
  };
  const [list, length] = lists[call.endpoint] ?? [];
  return list ? [...named, ...pages(key, list, (length ?? 0) + MAX_AT_ONCE, 50).slice(-2)] : named;
}
