import { isDeepStrictEqual } from 'node:util';
import { type Change, type ChangesPage, nameOf } from '../../support/replica';
import { type Context, type Handler, mustBe } from './contract';
import type { Follower, Shown, Tenant } from './records';
import { BAD_REQUEST, comparable, ok, parameter, refuse, valueAt, whole } from './replies';
import { knownPart } from './unknown';

/** The feed of changes, by what its followers know. */

export const RESOURCES = ['tagGroups', 'events', 'activations', 'leads', 'eventLeads', 'leadActivityEvents'];

const named = (told: Shown): string => nameOf(told as Change);

/** Every record of the feed, as it is now. */
function shownOf(tenant: Tenant): Shown[] {
  const of = (resource: string, records: object[]): Shown[] =>
    (records as { id: string }[]).map((record) => ({ resource, id: record.id, record }));
  const events = tenant.events.list().map(({ shown }) => shown);
  const leads = tenant.leads.list().map((lead) => tenant.shownLead(lead));
  const entries = tenant.associations.list().map(({ event: eventId, shown }) => {
    return { resource: 'eventLeads', eventId, leadId: shown.leadId, record: { ...shown } };
  });
  return [
    ...of('tagGroups', tenant.tagGroups.list()),
    ...of('events', events),
    ...of('activations', tenant.activations.list()),
    ...of('leads', leads).map((lead) => ({ ...lead, remoteIds: lead.record?.remoteIds as object[] })),
    ...entries,
    ...of('leadActivityEvents', tenant.activities.list()),
  ];
}

/** Notes what changed since the last time, which is before each request: also what is undone later was a change. */
export function note(tenant: Tenant): void {
  const all = new Map(shownOf(tenant).map((shown) => [named(shown), shown]));
  const gone = tenant.history.list().filter((each) => each.record && !all.has(named(each)));
  for (const each of gone) all.set(named(each), { ...each, record: null });
  for (const [name, each] of all) {
    if (!isDeepStrictEqual(tenant.history.get(name), each)) tenant.history.set(name, each);
  }
}

const presentOf = ({ history }: Tenant, resources: string[]): Follower['known'] =>
  new Map(history.list().flatMap((each) => (resources.includes(each.resource) ? [[named(each), each]] : [])));

/** The one that asks, which may be a new one. @throws Refused */
function followerOf({ tenant, call, isAlone }: Context): Follower {
  const [cursor, since, list] = ['cursor', 'since', 'resources'].map((name) => parameter(call, name));
  const resources = RESOURCES.filter((name) => list === undefined || list.split(',').includes(name));
  const areNames = list === undefined || isDeepStrictEqual(list.split(',').sort(), resources.toSorted());
  if (!areNames || (since !== undefined && (since !== 'now' || cursor !== undefined))) return refuse(BAD_REQUEST);
  if (cursor === undefined) {
    // What there was at the moment of a request that was not alone is not known.
    const known: Follower['known'] = isAlone ? presentOf(tenant, resources) : new Map();
    const copy = new Map(since ? [...known].map(([name, { record }]) => [name, comparable(record)]) : []);
    return { resources, phase: since ? 'changes' : 'snapshot', hasMore: !since, copy, known };
  }
  const follower = tenant.followers.get(cursor) ?? refuse(BAD_REQUEST);
  return list && resources.join() !== follower.resources.join() ? refuse(BAD_REQUEST) : follower;
}

/**
 * Whatever a page tells is so, and new to its follower; a page with no more after it leaves the follower with a copy of all.
 * A page that was not alone shows each record at a moment of its own: those after it must make up for that.
 */
export const listChanges: Handler = (context) => {
  const { call, answer, tenant, isAlone } = context;
  const limit = Math.min(whole(call, 'limit', 100, 1, Infinity), 500);
  const follower = followerOf(context);
  const page = valueAt(answer, 'results') as ChangesPage | undefined;
  mustBe(Array.isArray(page?.changes) && !tenant.followers.has(page.cursor), 'a page with a new cursor', page);
  const { changes, cursor } = page;
  const names = new Set(changes.map(named));
  mustBe(changes.length <= limit && names.size === changes.length, 'each record once', [...names]);
  const isFirst = parameter(call, 'cursor') === undefined;
  const phase = isFirst || follower.phase === 'changes' ? follower.phase : page.phase;
  const hasMore = isFirst ? follower.hasMore : page.hasMore;
  const copy = new Map(follower.copy);
  for (const change of changes) copy.set(named(change), comparable(change.record));
  if (!isAlone) {
    if (!isFirst || hasMore) tenant.followers.set(cursor, { ...follower, phase, hasMore, copy });
    return ok({ ...page, phase, hasMore });
  }
  const present = presentOf(tenant, follower.resources);
  const expected = changes.map(({ operation, at, ...told }): Change => {
    const now = present.get(named(told));
    const isNews = now && (phase === 'snapshot' ? now.record !== null : now !== follower.known.get(named(now)));
    mustBe(isNews === true, 'what the follower does not know', told);
    const happened = operation === 'created' ? operation : 'updated';
    return { ...now!, at, operation: phase === 'snapshot' ? phase : now!.record ? happened : 'deleted' };
  });
  const differing = [...new Set([...copy.keys(), ...present.keys()])].filter((name) => {
    const record = comparable(present.get(name)?.record ?? null);
    return !isDeepStrictEqual(knownPart(copy.get(name) ?? null, record, new Set()), record);
  });
  mustBe(hasMore || differing.length === 0, 'a copy of all that is there', differing);
  tenant.followers.set(cursor, { ...follower, phase, hasMore, copy, known: hasMore ? follower.known : present });
  return ok({ phase, changes: expected, cursor, hasMore });
};
