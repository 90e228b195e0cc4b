import { newIndustryEvent } from './catalogue';
import { EMPTY_COMPANY, EMPTY_LEAD, phonesOf } from './leads';
import { mustBe } from './contract';
import type { Activation, Activity, EventRecord, Fields, State, TagOption, Tenant } from './records';

/**
 * What an import does with new records, whose references may be unknown or another organization's. Records that are
 * imported again are left to the tests of the command line.
 */

export const SECTIONS = [
  ...(['users', 'tagGroups', 'events', 'activations', 'leads', 'leadActivityEvents', 'industryEvents'] as const),
];
type Section = (typeof SECTIONS)[number];
export type Dataset = Partial<Record<Section, Fields[]>>;

interface Run {
  state: State;
  tenant: Tenant;
  /** ids of new events by their refs; undefined when the server refused the dataset */
  eventIds: Record<string, number> | undefined;
  /** places of unknown references */
  faults: string[];
}

/** @returns the places of the faults: when there are any, nothing must have changed */
export function importInto(state: State, tenant: Tenant, dataset: Dataset, eventIds: Run['eventIds']): string[] {
  const run: Run = { state, tenant, eventIds, faults: [] };
  for (const section of SECTIONS) {
    dataset[section]?.forEach((record, index) => WRITERS[section](run, record, `${section}[${index}]`));
  }
  return run.faults;
}

type Writer = (run: Run, record: Fields, place: string) => void;

const eventOf = (tenant: Tenant, ref: unknown): EventRecord | undefined =>
  tenant.events.list().find((event) => event.ref === ref);

const user: Writer = ({ tenant }, record) => {
  const { email, createdAt, firstName = null, lastName = null } = record as Fields & Record<string, string>;
  tenant.users.set(email as string, {
    ...{ id: undefined, createdAt: createdAt as string, email: email as string, firstName, lastName },
  });
};

const tagGroup: Writer = ({ tenant }, record) => {
  const { id, name, createdAt, status = 'PUBLISHED', allowsMultipleSelection = false, displayOrder = 0 } = record;
  const { usageInstructions = null, required = false, allEvents = false, tagOptions = [] } = record;
  const sorted = (tagOptions as TagOption[]).toSorted(
    (a, b) => a.displayOrder - b.displayOrder || (a.id < b.id ? -1 : 1),
  );
  const shown = { id, name, status, allowsMultipleSelection, displayOrder, usageInstructions, required, allEvents };
  const key = id as string;
  tenant.tagGroups.set(key, { id: key, createdAt: createdAt as string, shown: { ...shown, tagOptions: sorted } });
};

const event: Writer = ({ state, tenant, eventIds, faults }, record, place) => {
  const { ref, name, type, createdAt, registrationEnabled = false, startDate = null, endDate = null } = record;
  const { tagGroups = [], users = [] } = record as { tagGroups?: string[]; users?: string[] };
  tagGroups.forEach((id, index) => tenant.tagGroups.has(id) || faults.push(`${place}.tagGroups[${index}]`));
  users.forEach((email, index) => tenant.users.has(email) || faults.push(`${place}.users[${index}]`));
  const id = eventIds?.[ref as string] ?? 0;
  mustBe(!eventIds || (Number.isSafeInteger(id) && id > 0 && !state.eventIds.has(id)), 'a new id of an event', id);
  const shown = { id, name, type, registrationEnabled, createdAt: createdAt as string, startDate, endDate };
  const linked = { location: locationOf(record.location), tagGroups: [...new Set(tagGroups)] };
  state.eventIds.add(id);
  tenant.events.set(id, { shown: { ...shown, ...linked }, ref: ref as string, users });
};

const PARTS = ['streetAddress', 'city', 'state', 'zip', 'country', 'latitude', 'longitude', 'timeZone'];

const locationOf = (location: unknown): Fields | null =>
  location ? Object.fromEntries(PARTS.map((part) => [part, (location as Fields)[part] ?? null])) : null;

const activation: Writer = ({ tenant, faults }, record, place) => {
  const owner = eventOf(tenant, record.event);
  if (!owner) faults.push(`${place}.event`);
  const { event: _, createdBy = null, users = [], numberOfScans = 0, location, ...rest } = record;
  const shown = { ...rest, createdBy, users, numberOfScans, location: locationOf(location) };
  tenant.activations.set(record.id as string, { ...shown, eventId: owner?.shown.id ?? 0 } as unknown as Activation);
};

const LEAD_FIELDS = Object.keys(EMPTY_LEAD).filter((field) => field !== 'company' && field !== 'phoneNumbers');

const lead: Writer = ({ state, tenant, faults }, record, place) => {
  const id = record.id as string;
  const { tags = [], activations = [], events = [] } = record as Record<string, Record<string, string>[]>;
  tags.forEach((tag, i) => tenant.tagOption(tag.tagOptionId ?? '') || faults.push(`${place}.tags[${i}].tagOptionId`));
  activations.forEach(
    (each, i) =>
      tenant.activations.has(each.activationId ?? '') || faults.push(`${place}.activations[${i}].activationId`),
  );
  const given = Object.fromEntries(LEAD_FIELDS.map((field) => [field, record[field] ?? EMPTY_LEAD[field]]));
  const { leadProvided, serviceProvided } = (record.phoneNumbers ?? {}) as Fields;
  const phoneNumbers = { leadProvided: phonesOf(leadProvided), serviceProvided: phonesOf(serviceProvided) };
  const company = { ...EMPTY_COMPANY, ...((record.company ?? {}) as Fields) };
  state.leadIds.add(id);
  tenant.leads.set(id, {
    shown: { ...given, id, createdAt: record.createdAt as string, phoneNumbers, company },
    tags: [...new Set(tags.map(({ tagOptionId = '' }) => tagOptionId))],
    activations: flagged(activations, 'activationId').map(({ name, ...flags }) => ({ activationId: name, ...flags })),
  });
  events.forEach((each, i) => eventOf(tenant, each.event) || faults.push(`${place}.events[${i}].event`));
  for (const { name, ...flags } of flagged(events, 'event')) {
    const owner = eventOf(tenant, name);
    if (owner) tenant.associate(owner.shown.id, { leadId: id, ...flags });
  }
};

/** Each of what a list names once, with its last flags. */
const flagged = (items: Fields[], key: string): { name: string; registered: boolean; checkedIn: boolean }[] =>
  [...new Map(items.map((item) => [item[key] as string, item])).entries()].map(([name, item]) => ({
    ...{ name, registered: item.registered === true, checkedIn: item.checkedIn === true },
  }));

const activity: Writer = ({ tenant, faults }, record, place) => {
  const { id, createdAt, createdBy = null, eventType, eventNotes = null, associatedLead } = record;
  const { associatedCampaign = null, associatedEvent = null, associatedActivation = null } = record;
  const { associatedTagOption = null } = record;
  const owner = associatedEvent === null ? null : eventOf(tenant, associatedEvent);
  const known: [field: string, isKnown: boolean][] = [
    ['associatedLead', tenant.leads.has(associatedLead as string)],
    ['associatedEvent', owner !== undefined],
    ['associatedActivation', associatedActivation === null || tenant.activations.has(associatedActivation as string)],
    ['associatedTagOption', associatedTagOption === null || Boolean(tenant.tagOption(associatedTagOption as string))],
  ];
  for (const [field, isKnown] of known) if (!isKnown) faults.push(`${place}.${field}`);
  const links = { associatedCampaign, associatedEvent: owner?.shown.id ?? null, associatedActivation };
  const shown = { id, createdAt, createdBy, eventType, eventNotes, associatedLead, ...links, associatedTagOption };
  tenant.activities.set(id as string, shown as Activity);
};

const industryEvent: Writer = ({ state, tenant }, record) => {
  const { id, createdAt, updatedAt = createdAt } = record as Record<string, string>;
  state.catalogue.set(id as string, newIndustryEvent(record, { id, createdAt, updatedAt }));
  if (record.isBookmarked === true) tenant.bookmarks.set(id as string, id as string);
};

const WRITERS: Record<Section, Writer> = {
  users: user,
  tagGroups: tagGroup,
  events: event,
  activations: activation,
  leads: lead,
  leadActivityEvents: activity,
  industryEvents: industryEvent,
};
