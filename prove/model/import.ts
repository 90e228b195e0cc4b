import { newIndustryEvent } from './catalogue';
import { EMPTY_COMPANY, EMPTY_LEAD, phonesOf } from './leads';
import type { Model } from './model';
import { Activation, Activity, Fields, TagOption, Tenant } from './records';
import { firstFault, INDUSTRY_EVENT_CREATE, isUuid, momentOf } from './rules';

/**
 * What an import does, for the datasets that the operations make: records of the right form, whose references may be
 * unknown or another organization's. Records that are new carry their `createdAt`.
 */
export type Dataset = Partial<Record<(typeof SECTIONS)[number], Fields[]>>;

export const SECTIONS = [
  ...(['users', 'tagGroups', 'events', 'activations', 'leads', 'leadActivityEvents', 'industryEvents'] as const),
];

/** The result of an import: what the operator is told, and by their eventUrls the ids of industry events. */
export interface Imported {
  imported: Record<string, number>;
  events: Record<string, number>;
  industryEvents: Map<string, string>;
}

interface Run {
  model: Model;
  tenant: Tenant;
  /** undefined when the server refused the dataset */
  told: Imported | undefined;
  /** places of faults, of which an import names the one that it comes to first */
  faults: string[];
}

/**
 * @returns the places of the faults: when there are any, nothing must have changed
 * @throws Impossible
 */
export function importInto(model: Model, tenant: Tenant, dataset: Dataset, told: Imported | undefined): string[] {
  const run: Run = { model, tenant, told, faults: [] };
  for (const section of SECTIONS) {
    WRITERS[section](run, dataset[section] ?? []);
  }
  return run.faults;
}

const momentOfNew = (stored: string | undefined, { createdAt }: Fields): string =>
  momentOf(createdAt) ?? stored ?? 'createdAt is missing';

/** An id is the organization's own, or new. */
function refuseForeign({ model, tenant, faults }: Run, place: string, holds: (other: Tenant) => boolean): void {
  const foreign = model.tenants.list().some((other) => other !== tenant && holds(other));
  if (foreign) faults.push(`${place}.id`);
}

type Writer = (run: Run, record: Fields, place: string) => void;
type SectionWriter = (run: Run, records: Fields[]) => void;

const user: Writer = ({ tenant }, record) => {
  const { email, firstName = null, lastName = null } = record as Fields & { email: string };
  const stored = tenant.users.get(email);
  const createdAt = momentOfNew(stored?.createdAt, record);
  tenant.users.set(email, { id: stored?.id, createdAt, email, firstName, lastName });
};

const tagGroup: Writer = (run, record, place) => {
  const { tenant } = run;
  const id = record.id as string;
  refuseForeign(run, place, (other) => other.tagGroups.has(id));
  const stored = tenant.tagGroups.get(id);
  const { name, status = 'PUBLISHED', allowsMultipleSelection = false, displayOrder = 0 } = record;
  const { usageInstructions = null, required = false, allEvents = false } = record;
  const options = ((record.tagOptions ?? []) as TagOption[]).toSorted(
    (a, b) => a.displayOrder - b.displayOrder || (a.id < b.id ? -1 : 1),
  );
  const kept = new Set(options.map((option) => option.id));
  const gone = new Set((stored?.shown.tagOptions ?? []).flatMap((option) => (kept.has(option.id) ? [] : [option.id])));
  const rest = { status, allowsMultipleSelection, displayOrder, usageInstructions, required, allEvents };
  const shown = { id, name, ...rest, tagOptions: options };
  tenant.tagGroups.set(id, { createdAt: momentOfNew(stored?.createdAt, record), shown });
  if (gone.size > 0) removeOptions(tenant, gone);
};

function removeOptions(tenant: Tenant, gone: Set<string>): void {
  for (const lead of tenant.leads.list()) {
    const tags = lead.tags.filter((tag) => !gone.has(tag));
    if (tags.length < lead.tags.length) tenant.leads.set(lead.shown.id, { ...lead, tags });
  }
  for (const activity of tenant.activities.list()) {
    const { associatedTagOption: tag } = activity;
    if (tag !== null && gone.has(tag)) tenant.activities.set(activity.id, { ...activity, associatedTagOption: null });
  }
}

const eventOfRef = (tenant: Tenant, ref: unknown) => tenant.events.list().find((event) => event.ref === ref);

const event: Writer = (run, record, place) => {
  const { model, tenant, told, faults } = run;
  const { ref, name, type, registrationEnabled = false, startDate = null, endDate = null } = record;
  const { tagGroups = [], users = [] } = record as { tagGroups?: string[]; users?: string[] };
  tagGroups.forEach((id, index) => tenant.tagGroups.has(id) || faults.push(`${place}.tagGroups[${index}]`));
  users.forEach((email, index) => tenant.users.has(email) || faults.push(`${place}.users[${index}]`));
  const stored = eventOfRef(tenant, ref);
  const id = stored?.shown.id ?? told?.events[ref as string] ?? -model.eventIds.list().length - 1;
  if (!stored && told) {
    model.mustBe(Number.isSafeInteger(id) && id > 0 && !model.eventIds.has(id), `a new id for ${String(ref)}`, id);
  }
  model.eventIds.set(id, tenant.id);
  const createdAt = momentOfNew(stored?.shown.createdAt, record);
  const shown = { id, name, type, registrationEnabled, createdAt, startDate, endDate };
  const linked = { location: locationOf(record.location), tagGroups: [...new Set(tagGroups)] };
  tenant.events.set(id, { shown: { ...shown, ...linked }, ref: ref as string, users });
};

const PARTS = ['streetAddress', 'city', 'state', 'zip', 'country', 'latitude', 'longitude', 'timeZone'];

const locationOf = (location: unknown): Fields | null =>
  location ? Object.fromEntries(PARTS.map((part) => [part, (location as Fields)[part] ?? null])) : null;

const activation: Writer = (run, record, place) => {
  const { tenant, faults } = run;
  const id = record.id as string;
  refuseForeign(run, place, (other) => other.activations.has(id));
  const owner = eventOfRef(tenant, record.event);
  if (!owner) faults.push(`${place}.event`);
  const { name, type, startDate, endDate, startTime, endTime, createdBy = null, users = [] } = record;
  const createdAt = momentOfNew(tenant.activations.get(id)?.createdAt, record);
  const times = { startDate, endDate, startTime, endTime, createdBy, location: locationOf(record.location) };
  const shown = { id, eventId: owner?.shown.id ?? 0, name, createdAt, type, ...times, users };
  tenant.activations.set(id, { ...shown, numberOfScans: record.numberOfScans ?? 0 } as Activation);
};

const LEAD_FIELDS = Object.keys(EMPTY_LEAD).filter((field) => field !== 'company' && field !== 'phoneNumbers');

const lastOfEach = <T>(items: T[], key: (item: T) => string): T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
];

const lead: Writer = (run, record, place) => {
  const { model, tenant, faults } = run;
  const id = record.id as string;
  refuseForeign(run, place, (other) => other.leads.has(id));
  const createdAt = momentOfNew(tenant.leads.get(id)?.shown.createdAt, record);
  const given = Object.fromEntries(LEAD_FIELDS.map((field) => [field, record[field] ?? EMPTY_LEAD[field]]));
  const { leadProvided, serviceProvided } = (record.phoneNumbers ?? {}) as Fields;
  const phoneNumbers = { leadProvided: phonesOf(leadProvided), serviceProvided: phonesOf(serviceProvided) };
  const company = { ...EMPTY_COMPANY, ...((record.company ?? {}) as Fields) };
  const tags = (record.tags ?? []) as { tagOptionId: string }[];
  tags.forEach((tag, i) => tenant.tagOption(tag.tagOptionId) || faults.push(`${place}.tags[${i}].tagOptionId`));
  const activations = activationsOf(run, record, place);
  model.leadIds.set(id, tenant.id);
  tenant.leads.set(id, {
    shown: { ...given, id, createdAt, phoneNumbers, company },
    ...{ tags: [...new Set(tags.map(({ tagOptionId }) => tagOptionId))], activations },
  });
  const events = (record.events ?? []) as { event: string; registered?: boolean; checkedIn?: boolean }[];
  const owners = events.map(({ event: ref }) => eventOfRef(tenant, ref)?.shown.id);
  owners.forEach((owner, index) => owner ?? faults.push(`${place}.events[${index}].event`));
  for (const { event: ref, registered = false, checkedIn = false } of lastOfEach(events, (each) => each.event)) {
    const owner = eventOfRef(tenant, ref)?.shown.id;
    if (owner !== undefined) model.associate(tenant, owner, { leadId: id, registered, checkedIn });
  }
};

function activationsOf({ tenant, faults }: Run, record: Fields, place: string) {
  const given = (record.activations ?? []) as { activationId: string; registered?: boolean; checkedIn?: boolean }[];
  given.forEach(
    (each, i) => tenant.activations.has(each.activationId) || faults.push(`${place}.activations[${i}].activationId`),
  );
  return lastOfEach(given, ({ activationId }) => activationId).map(
    ({ activationId, registered = false, checkedIn = false }) => ({ activationId, checkedIn, registered }),
  );
}

const activity: Writer = (run, record, place) => {
  const { tenant, faults } = run;
  const id = record.id as string;
  refuseForeign(run, place, (other) => other.activities.has(id));
  const createdAt = momentOfNew(tenant.activities.get(id)?.createdAt, record);
  const { createdBy = null, eventType, eventNotes = null, associatedLead, associatedCampaign = null } = record;
  const { associatedEvent = null, associatedActivation = null, associatedTagOption = null } = record;
  const owner = associatedEvent === null ? null : eventOfRef(tenant, associatedEvent);
  if (!tenant.leads.has(associatedLead as string)) faults.push(`${place}.associatedLead`);
  if (owner === undefined) faults.push(`${place}.associatedEvent`);
  if (associatedActivation !== null && !tenant.activations.has(associatedActivation as string)) {
    faults.push(`${place}.associatedActivation`);
  }
  if (associatedTagOption !== null && !tenant.tagOption(associatedTagOption as string)) {
    faults.push(`${place}.associatedTagOption`);
  }
  const links = { associatedCampaign, associatedEvent: owner?.shown.id ?? null, associatedActivation };
  const shown = { id, createdAt, createdBy, eventType, eventNotes, associatedLead, ...links, associatedTagOption };
  tenant.activities.set(id, shown as Activity);
};

interface Placed {
  record: Fields;
  place: string;
}

/** A record that lacks its eventUrl because another one has it. */
interface Waiting extends Placed {
  id: string;
  /** whether the other one was taken for it */
  isNew: boolean;
}

/**
 * Matched by id where it is known, else added unless another record has its eventUrl: one after the other, but that
 * records with ids which share neither take their eventUrls when all those that are known have given up theirs. Who is known and
 * wants what another one has waits for it to the end.
 */
const industryEvents: SectionWriter = (run, records) => {
  const { faults } = run;
  const placed = records
    .map((record, index) => ({ record, place: `industryEvents[${index}]` }))
    .filter(({ record, place }) => {
      const fault = firstFault(INDUSTRY_EVENT_CREATE, record);
      if (fault !== undefined) faults.push(`${place}.${fault}`);
      return fault === undefined;
    });
  const waiting = new Map<string, Waiting>();
  for (const round of rounds(placed)) industryEventsAtOnce(run, waiting, round);
  for (const each of waiting.values()) if (!each.isNew) takeEventUrl(run, waiting, each);
};

function rounds(placed: Placed[]): Placed[][] {
  const all: Placed[][] = [];
  const shares = (a: Fields, b: Fields): boolean =>
    typeof a.id !== typeof b.id || ['id', 'eventUrl'].some((key) => typeof a[key] === 'string' && a[key] === b[key]);
  for (const each of placed) {
    const last = all.findLastIndex((round) => round.some(({ record }) => shares(record, each.record)));
    (all[last + 1] ??= []).push(each);
  }
  return all;
}

const holderOf = ({ catalogue }: Model, url: unknown, id?: unknown) =>
  catalogue.list().find(({ eventUrl, id: other }) => eventUrl !== null && eventUrl === url && other !== id);

function idMade({ model, told }: Run, eventUrl: string): string {
  const id = told?.industryEvents.get(eventUrl);
  model.mustBe(!told || (isUuid(id) && !model.catalogue.has(id)), `a new id of ${eventUrl}`, id);
  return id ?? `that of ${eventUrl}`;
}

function takeEventUrl({ model, faults }: Run, waiting: Map<string, Waiting>, { id, record, place }: Waiting): void {
  const stored = model.catalogue.get(id);
  if (!stored || holderOf(model, record.eventUrl)) faults.push(`${place}.eventUrl`);
  else model.catalogue.set(id, { ...stored, eventUrl: record.eventUrl as string });
  waiting.delete(id);
}

function industryEventsAtOnce(run: Run, waiting: Map<string, Waiting>, round: Placed[]): void {
  const { model, tenant } = run;
  const { catalogue } = model;
  const known = round.filter(({ record }) => catalogue.has(record.id as string));
  const free = new Set<unknown>();
  for (const { record } of known) {
    const id = record.id as string;
    const stored = catalogue.get(id);
    waiting.delete(id);
    if (!stored || stored.eventUrl === record.eventUrl) continue;
    if (stored.eventUrl !== null) free.add(stored.eventUrl);
    catalogue.set(id, { ...stored, eventUrl: null });
  }
  for (const each of waiting.values()) if (free.delete(each.record.eventUrl)) takeEventUrl(run, waiting, each);
  for (const placed of [...known, ...round.filter((each) => !known.includes(each))]) {
    const { record } = placed;
    const stored = catalogue.get(record.id as string);
    const other = holderOf(model, record.eventUrl, record.id);
    const id = (record.id ?? other?.id ?? idMade(run, record.eventUrl as string)) as string;
    const createdAt = momentOfNew(stored?.createdAt, record);
    const updatedAt = momentOf(record.updatedAt) ?? stored?.updatedAt ?? createdAt;
    const given = other ? { ...record, eventUrl: null } : record;
    if (stored || !other) catalogue.set(id, newIndustryEvent(given, { id, createdAt, updatedAt }));
    if (other && record.id !== undefined) waiting.set(id, { ...placed, id, isNew: !stored });
    const meant = stored || !other ? id : other.id;
    if (record.isBookmarked === true) tenant.bookmarks.set(meant, meant);
    if (record.isBookmarked === false) tenant.bookmarks.delete(meant);
  }
}

const oneByOne =
  (section: (typeof SECTIONS)[number], write: Writer): SectionWriter =>
  (run, records) =>
    records.forEach((record, index) => write(run, record, `${section}[${index}]`));

const WRITERS: Record<(typeof SECTIONS)[number], SectionWriter> = {
  users: oneByOne('users', user),
  tagGroups: oneByOne('tagGroups', tagGroup),
  events: oneByOne('events', event),
  activations: oneByOne('activations', activation),
  leads: oneByOne('leads', lead),
  leadActivityEvents: oneByOne('leadActivityEvents', activity),
  industryEvents,
};
