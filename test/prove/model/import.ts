import { exhibitor, industryEventInput, unique } from '../../support/builders';
import type { Random } from '../support/random';
import { mustBe } from './contract';
import type { Activation, Activity, IndustryEvent, State, TagGroup, Tenant } from './records';
import { newIndustryEvent } from './catalogue';

/** Imports of complete records that are new. All other cases belong to the tests of the command line. */

export type Dataset = ReturnType<typeof newDataset>;

/** @returns records of each section that refer to each other, older and younger than others that are there */
export function newDataset(random: Random) {
  const { users, tagGroup, event, activation, lead, activity } = exhibitor();
  const ref = unique();
  const made = () => ({ createdAt: new Date(Date.UTC(2020, 0, 1) + random.below(20) * 1001).toISOString() });
  const isNotes = () => ({ ...activity(), ...made(), associatedEvent: ref, eventType: random.pick(['NOTE', 'SMS']) });
  return {
    users: users.map((user, n) => ({ ...user, ...made(), email: `${ref}-${n}@example.com` })),
    tagGroups: [{ ...tagGroup, ...made(), tagOptions: tagGroup.tagOptions.toReversed() }],
    events: [{ ...event, ...made(), ref, users: users.map((_, n) => `${ref}-${n}@example.com`) }],
    activations: [{ ...activation, ...made(), event: ref }],
    leads: [{ ...lead, ...made(), events: [{ event: ref, registered: true, checkedIn: true }] }],
    leadActivityEvents: [isNotes(), isNotes(), isNotes()],
    industryEvents: [1, 2].map(() => ({ ...industryEventInput(made()), id: random.uuid(), isBookmarked: true })),
  };
}

/** Takes over what an import made. @param eventId the id that the server gave to the event */
export function imported(state: State, tenant: Tenant, dataset: Dataset, eventId: unknown): void {
  const isNew = typeof eventId === 'number' && eventId > 0 && !state.eventIds.has(eventId);
  mustBe(isNew, 'a new id of the event', eventId);
  const id = eventId as number;
  for (const user of dataset.users) tenant.users.set(user.email, { ...user, id: undefined });
  for (const { createdAt: _, ...shown } of dataset.tagGroups) tenant.tagGroups.set(shown.id, shown as TagGroup);
  for (const { ref: _, users, ...shown } of dataset.events) {
    state.eventIds.add(id);
    tenant.events.set(id, { shown: { ...shown, id }, users });
  }
  for (const { event: _, ...shown } of dataset.activations) {
    tenant.activations.set(shown.id, { ...shown, eventId: id } as Activation);
  }
  for (const { tags, activations, events, ...shown } of dataset.leads) {
    state.leadIds.add(shown.id);
    tenant.leads.set(shown.id, { shown, activations, tags: tags.map(({ tagOptionId }) => tagOptionId) });
    for (const { event: _, ...flags } of events) tenant.associate(id, { leadId: shown.id, ...flags });
  }
  for (const shown of dataset.leadActivityEvents) {
    tenant.activities.set(shown.id, { ...shown, associatedEvent: id } as Activity);
  }
  for (const record of dataset.industryEvents) {
    const { id, createdAt, ...fields } = record as unknown as IndustryEvent;
    state.catalogue.set(id, newIndustryEvent(fields, { id, createdAt, updatedAt: createdAt }));
    tenant.bookmarks.set(id, id);
  }
}
