import { type Answer, type Call, type EndpointName, ENDPOINTS } from './endpoints';
import { valueAt } from './replies';
import type { State } from './records';

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

/** Everything that can be read, of every organization. */
export const audits = (state: State): Call[] =>
  state.tenants
    .list()
    .flatMap(({ key, leads }) => [
      ...pages(key, 'listLeads', leads.list().length, 17),
      ...pages(key, 'listIndustryEvents', state.catalogue.list().length, 50),
      get(key, 'listBookmarkedIndustryEvents'),
    ]);

/** What shows the outcome of requests made at once: each thing that they name or made, and places. */
export function settlingReads(state: State, calls: Call[], answers: Answer[]): Call[] {
  const reads = calls.flatMap((call, index) => readsOf(state, call, answers[index]?.body));
  return [...new Map(reads.map((read) => [JSON.stringify(read), read])).values()];
}

function readsOf(state: State, call: Call, answer: unknown): Call[] {
  const tenant = state.tenantOf(call.keys[0]);
  if (!tenant) return [];
  const { key } = tenant;
  const named = call.ids.flatMap((id, index): Call[] => {
    const isLead = ENDPOINTS[call.endpoint].ids[index] === 'lead';
    return [get(key, isLead ? 'getLead' : 'getIndustryEvent', [id])];
  });
  const made = valueAt(answer, 'results', 'industryEvent', 'id');
  if (typeof made === 'string') named.push(get(key, 'getIndustryEvent', [made]));
  const written = valueAt(answer, 'results', 'leads');
  if (call.endpoint === 'upsertLeads' && Array.isArray(written)) {
    named.push(...written.map((each) => get(key, 'getLead', [String(valueAt(each, 'lead', 'id'))])));
  }
  const lists: Partial<Record<EndpointName, [EndpointName, number]>> = {
    createLead: ['listLeads', tenant.leads.list().length],
    upsertLeads: ['listLeads', tenant.leads.list().length + MAX_AT_ONCE * MAX_BATCH_SIZE],
    createIndustryEvent: ['listIndustryEvents', state.catalogue.list().length],
  };
  const [list, length] = lists[call.endpoint] ?? [];
  return list ? [...named, ...pages(key, list, (length ?? 0) + MAX_AT_ONCE, 50).slice(-2)] : named;
}
