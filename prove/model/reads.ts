import { Answer, Call, EndpointName, ENDPOINTS } from './endpoints';
import type { Tenant } from './records';
import { told } from './replies';
import type { World } from './world';

/** Requests that only look: what a comparison of the whole state asks. */

const get = (key: string, endpoint: EndpointName, ids: string[] = [], query: Call['query'] = []): Call => ({
  ...{ endpoint, keys: [key], ids, query },
});

/** Every page of a list, the last one not full. */
const pages = (key: string, endpoint: EndpointName, length: number, limit: number, ids: string[] = []): Call[] =>
  Array.from({ length: Math.floor(length / limit) + 1 }, (_, offset) =>
    get(key, endpoint, ids, [
      ['limit', String(limit)],
      ['offset', String(offset)],
    ]),
  );

/** Everything that can be read, of every organization. */
export function audits(world: World): Call[] {
  return world
    .tenants()
    .flatMap(({ tenant, key }) => [
      ...pages(key, 'listEvents', tenant.events.list().length, 50),
      ...pages(key, 'listLeads', tenant.leads.list().length, 17),
      ...pages(key, 'listActivities', tenant.activities.list().length, 20),
      ...pages(key, 'listActivations', tenant.activations.list().length, 3),
      ...pages(key, 'listTagGroups', tenant.tagGroups.list().length, 2),
      ...pages(key, 'listIndustryEvents', world.model.catalogue.list().length, 50),
      get(key, 'listBookmarks'),
      ...tenant.events
        .list()
        .flatMap(({ shown: { id } }) => [
          ...pages(key, 'listEventLeads', associated(tenant, id), 50, [String(id)]),
          get(key, 'listEventUsers', [String(id)]),
        ]),
    ]);
}

const associated = (tenant: Tenant, event: number): number =>
  tenant.associations.list().filter((each) => each.event === event).length;

/** What tells the outcome of requests made at once: each thing that they name or made, and who is associated. */
export function settlingReads(world: World, calls: Call[], answers: Answer[]): Call[] {
  const reads = new Map<string, Call>();
  for (const [index, call] of calls.entries()) {
    const tenant = world.tenantOf(call.keys[0]);
    const key = world.tenants().find((each) => each.tenant === tenant)?.key ?? '';
    for (const read of readsOf(world, key, call, answers[index]?.body)) reads.set(JSON.stringify(read), read);
  }
  return [...reads.values()];
}

function readsOf(world: World, key: string, call: Call, answer: unknown): Call[] {
  const kinds = ENDPOINTS[call.endpoint].ids;
  const named = call.ids.flatMap((id, index) => {
    if (kinds[index] === 'event') {
      const length = associated(world.tenantOf(key), Number(id));
      return [get(key, 'getEvent', [id]), ...pages(key, 'listEventLeads', length + 12, 50, [id])];
    }
    if (kinds[index] === 'lead') return [get(key, 'getLead', [id])];
    return kinds[index] === 'industryEvent' ? [get(key, 'getIndustryEvent', [id])] : [];
  });
  const made = told(answer, 'results', 'industryEvent', 'id');
  return typeof made === 'string' ? [...named, get(key, 'getIndustryEvent', [made])] : named;
}
