import { isDeepStrictEqual } from 'node:util';
import type { Dataset } from './import';
import type { Model } from './model';
import { Fields, LeadRecord, Tenant } from './records';

/** What an export holds, as far as the contract shows it; it tells the refs of the events that the API created. */

/** @returns what differs, or undefined */
export function checkExport(model: Model, tenant: Tenant, exported: Dataset): string | undefined {
  const events = tenant.events.list();
  (exported.events ?? []).forEach(({ ref }, index) => {
    const event = events[index];
    if (event && event.ref === undefined) tenant.events.set(event.shown.id, { ...event, ref: ref as string });
  });
  for (const [section, records] of Object.entries(expected(model, tenant))) {
    const found = exported[section as keyof Dataset] ?? [];
    if (found.length !== records.length) return `${records.length} ${section}, not ${found.length}`;
    for (const [index, record] of records.entries()) {
      const fields = Object.fromEntries(Object.keys(record).map((name) => [name, found[index]?.[name]]));
      if (!isDeepStrictEqual(fields, record)) {
        return `${section}[${index}] ${JSON.stringify(record)}, not ${JSON.stringify(found[index])}`;
      }
    }
  }
  return undefined;
}

function expected(model: Model, tenant: Tenant): Record<string, Fields[]> {
  const refOf = (id: unknown): string | null => tenant.events.get(id as number)?.ref ?? null;
  return {
    users: tenant.users.list().map(({ id: _, ...user }) => user),
    tagGroups: tenant.tagGroups.list().map(({ createdAt, shown }) => ({ ...shown, createdAt })),
    events: tenant.events.list().map(({ ref, users, shown: { id: _, ...shown } }) => ({
      ...{ ...shown, ref, users: tenant.users.list().flatMap(({ email }) => (users.includes(email) ? [email] : [])) },
    })),
    activations: tenant.activations.list().map(({ eventId, ...shown }) => ({ ...shown, event: refOf(eventId) })),
    leads: tenant.leads.list().map((lead) => exportedLead(lead)),
    leadActivityEvents: tenant.activities.list().map((activity) => ({
      ...{ ...activity, associatedEvent: activity.associatedEvent === null ? null : refOf(activity.associatedEvent) },
    })),
    industryEvents: model.catalogue.list().map((record) => ({
      ...{ ...record, isBookmarked: tenant.bookmarks.has(record.id) || undefined },
    })),
  };
}

/** Remote ids have no order that the contract fixes; they are compared where the lead is read. */
const exportedLead = ({ shown: { remoteIds: _, ...shown }, tags, activations }: LeadRecord): Fields => ({
  ...shown,
  tags: tags.map((tagOptionId) => ({ tagOptionId })),
  activations,
});
