import { Chance, DAY, iso, slug } from './seed.chance';
import type { Event, World } from './seed.organization';
import { ACTIONS, activitiesOf, NOTES, PHONE_TYPES, TAG_GROUPS } from './seed.plan';

const HOUR = 3_600_000;

/** A lead before it is a record. */
interface Meeting {
  index: number;
  /** unix milliseconds */
  at: number;
  event: Event;
  /** for which the lead has registered too */
  next: Event | undefined;
}

/** Leads are met while an event lasts, in the order of time; a few events bring many of them. */
export function* meetings(world: World, chance: Chance, leads: number): Generator<Meeting> {
  const past = world.events.filter(({ endDate }) => Date.parse(endDate) < world.end);
  const upcoming = world.events.filter(({ endDate }) => Date.parse(endDate) >= world.end);
  const weights = past.map(() => 0.2 + chance.upTo(1) ** 3);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let [index, share] = [0, 0];
  for (const [of, event] of past.entries()) {
    share += weights[of] ?? 0;
    const end = of === past.length - 1 ? leads : Math.round((leads * share) / whole);
    for (const first = index; index < end; index++) {
      const at = momentOf(event, (index - first + chance.upTo(1)) / (end - first));
      yield { index, at, event, next: upcoming.length > 0 && chance.happens(0.1) ? chance.one(upcoming) : undefined };
    }
  }
}

/** Between 9 and 18 h on an event's days. @param share of its whole time, from 0 to 1 */
function momentOf({ startDate, endDate }: Event, share: number): number {
  const days = 1 + (Date.parse(endDate) - Date.parse(startDate)) / DAY;
  const day = Math.min(days - 1, Math.floor(share * days));
  return Math.floor(Date.parse(startDate) + day * DAY + (9 + 9 * (share * days - day)) * HOUR);
}

/** A lead of a meeting, and what was done with it. */
export function inventLead({ index, at, event, next }: Meeting, world: World, chance: Chance) {
  const company = chance.one(world.companies);
  const { faker } = company;
  const [firstName, lastName] = [faker.person.firstName(), faker.person.lastName()];
  const handle = `${slug(firstName)}.${slug(lastName)}`;
  const email = `${handle}@${company.domain}`;
  const [isEnriched, registered] = [chance.happens(0.35), chance.happens(0.5)];
  const visited = (world.activations.get(event.ref) ?? []).filter(() => chance.happens(0.3));
  const createdBy = chance.one(world.users).email;
  const id = chance.id(at, `lead ${index}`);
  const lead = {
    id,
    createdAt: iso(at),
    createdBy,
    firstName,
    lastName,
    email: chance.perhaps(0.92, () => email),
    jobTitle: chance.perhaps(0.85, () => faker.person.jobTitle()),
    description: chance.perhaps(0.2, () => chance.one(NOTES)),
    linkedin: chance.perhaps(isEnriched ? 0.9 : 0.2, () => `https://linkedin.example/in/${handle}-${index + 1}`),
    twitter: chance.perhaps(0.08, () => `@${handle.replace('.', '_')}`),
    address: chance.perhaps(0.15, () => faker.location.streetAddress()),
    isEnriched,
    numberOfScans: chance.happens(0.8) ? 1 : 2 + chance.below(4),
    lastScannedBy: createdBy,
    personalEmails: chance.perhaps(0.06, () => `${handle}@mail.example`),
    professionalEmails: isEnriched ? `${email}; info@${company.domain}` : null,
    company: {
      name: company.name,
      industry: chance.perhaps(isEnriched ? 1 : 0.4, () => company.industry),
      city: company.city,
      country: company.country,
    },
    phoneNumbers: {
      leadProvided: phones(chance, 0.6, () => chance.one(PHONE_TYPES)),
      serviceProvided: phones(chance, isEnriched ? 0.7 : 0, () => 'HQ'),
    },
    tags: world.tagGroups.flatMap((group, of) => tagsOf(group, TAG_GROUPS[of]?.several ?? false, chance)),
    activations: visited.map(({ id: activationId }) => ({ activationId, registered, checkedIn: chance.happens(0.8) })),
    events: [
      { event: event.ref, registered, checkedIn: true, associatedAt: iso(at) },
      ...(next ? [{ event: next.ref, registered: true, checkedIn: false, associatedAt: iso(at) }] : []),
    ],
    remoteIds: chance.happens(0.3) ? [{ id: `003-${index + 1}`, integrationType: 'SALES_FORCE' }] : [],
  };
  const activities = Array.from({ length: activitiesOf(index) }, (_, of) => {
    const activity = inventActivity(at, event, visited[0]?.id ?? null, world, chance);
    const name = `activity ${index}/${of}`;
    return { id: chance.id(Date.parse(activity.createdAt), name), ...activity, associatedLead: id };
  });
  return { lead, activities };
}

/** Some of it was done at once, the rest within a month. */
function inventActivity(at: number, event: Event, activation: string | null, world: World, chance: Chance) {
  const isAtOnce = chance.happens(0.3);
  const eventType = isAtOnce ? 'NOTE' : chance.faker.helpers.weightedArrayElement(ACTIONS);
  const isCampaign = eventType === 'CAMPAIGN_ASSOCIATION';
  return {
    createdAt: iso(Math.min(world.end, at + chance.upTo(isAtOnce ? HOUR / 2 : 30 * DAY))),
    createdBy: chance.one(world.users).email,
    eventType,
    eventNotes: isCampaign ? null : chance.perhaps(0.7, () => chance.one(NOTES)),
    associatedCampaign: isCampaign ? chance.id(world.end, `campaign ${chance.below(12)}`) : null,
    associatedEvent: event.ref,
    associatedActivation: isAtOnce ? activation : null,
    associatedTagOption: chance.perhaps(0.1, () => chance.one(world.tagGroups[0]?.tagOptions ?? []).id),
  };
}

const phones = (chance: Chance, share: number, type: () => string) =>
  chance.happens(share) ? [{ number: chance.phone(), type: type(), preferred: true }] : [];

function tagsOf({ tagOptions }: World['tagGroups'][number], several: boolean, chance: Chance) {
  const one = (): typeof tagOptions => (chance.happens(0.75) ? [chance.one(tagOptions)] : []);
  const chosen = several ? tagOptions.filter(() => chance.happens(0.2)) : one();
  return chosen.map(({ id }) => ({ tagOptionId: id }));
}
