import { createHash } from 'node:crypto';
import { uuidV7 } from '../database/uuid';
import type { RawRecord } from '../datasets/dataset';
import { DEMO_RECORDS } from './demo';

/** The input of the generator. The same values produce the same records. */
export interface Seed {
  organizationId: number;
  seed: number;
  leads: number;
  /** A date (YYYY-MM-DD) that is after all records, except for the last event. */
  until: string;
}

/** What the demo shows is varied: its people, companies, events and notes. */
interface Models {
  tagGroups: { id: string; name: string; tagOptions: { id: string; value: string }[] }[];
  events: { name: string; location: object }[];
  activations: { type: string; startTime: string; endTime: string }[];
  leads: {
    firstName: string;
    lastName: string;
    jobTitle: string;
    company: Record<'name' | 'city' | 'country', string>;
  }[];
  leadActivityEvents: { eventType: string; eventNotes: string | null }[];
}

const MODELS = DEMO_RECORDS as unknown as Models;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_MS = 3 * 365 * DAY_MS;
/** The number of activity events of successive leads. The pattern repeats. */
const ACTIVITIES_PER_LEAD = [2, 0, 1, 0, 1];

const iso = (at: number): string => new Date(at).toISOString();
const repeat = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Generates the records of a made-up organization in constant memory. Each record comes after those that it refers to. */
export function* inventedRecords(seed: Seed): Generator<RawRecord> {
  const random = new SeededRandom(seed);
  const end = Date.parse(seed.until);
  const createdAt = iso(end - YEARS_MS);
  const eventCount = 3 + Math.min(400, Math.round(seed.leads / 400));
  const userCount = 4 + Math.min(400, Math.round(Math.sqrt(seed.leads) / 4));
  const emails = repeat(userCount, (n) => `user${n + 1}@exhibitor.example`);
  for (const email of emails) yield { section: 'users', record: { email, ...random.name(), createdAt } };
  const tagGroups = MODELS.tagGroups.map((group) => {
    const tagOptions = group.tagOptions.map((option) => ({ ...option, id: random.id(end, option.value) }));
    return { ...group, id: random.id(end, group.name), createdAt, tagOptions };
  });
  for (const record of tagGroups) yield { section: 'tagGroups', record };
  const events = repeat(eventCount, (n) => {
    const start = end - YEARS_MS + Math.floor(((n + 0.5) * YEARS_MS) / (eventCount - 1) / DAY_MS) * DAY_MS;
    const [model, day, createdBy] = [random.one(MODELS.events), iso(start).slice(0, 10), random.one(emails)];
    const dates = { createdAt, startDate: day, endDate: day };
    const links = { tagGroups: tagGroups.map(({ id }) => id), users: [createdBy], createdBy };
    return {
      ...model,
      ...dates,
      ...links,
      ref: `seed-${seed.seed}-${n + 1}`,
      name: `${model.name} ${day.slice(0, 4)}`,
    };
  });
  for (const record of events) yield { section: 'events', record };
  const activations = events.map(({ ref, name, startDate, endDate, createdBy, location }) => {
    const { type, startTime, endTime } = random.one(MODELS.activations);
    const hours = { startDate, endDate, startTime, endTime, createdAt };
    const id = random.id(Date.parse(startDate), `activation ${ref}`);
    return { id, event: ref, name: `${name}: ${type}`, type, ...hours, createdBy, location, users: [createdBy] };
  });
  for (const record of activations) yield { section: 'activations', record };
  const options = tagGroups.map(({ tagOptions }) => tagOptions.map(({ id }) => id));
  for (let n = 0; n < seed.leads; n++) {
    // Leads are in chronological order, and later events bring more of them.
    const place = (eventCount - 1) * Math.sqrt(n / seed.leads);
    const activation = activations[Math.floor(place)] as (typeof activations)[number];
    const at = Date.parse(activation.startDate) + Math.floor((9 + 9 * (place % 1)) * HOUR_MS);
    const lead = { ...inventLead(n, at, activation, options, random), createdBy: random.one(emails) };
    yield { section: 'leads', record: lead };
    for (const nth of repeat(ACTIVITIES_PER_LEAD[n % ACTIVITIES_PER_LEAD.length] ?? 0, Number)) {
      const doneAt = Math.floor(Math.min(end, at + random.next() * 30 * DAY_MS));
      const about = { associatedLead: lead.id, associatedEvent: activation.event };
      const { eventType, eventNotes } = random.one(MODELS.leadActivityEvents);
      const done = { createdAt: iso(doneAt), createdBy: random.one(emails), eventType, eventNotes };
      yield { section: 'leadActivityEvents', record: { id: random.id(doneAt, `${n}/${nth}`), ...about, ...done } };
    }
  }
}

function inventLead(
  n: number,
  at: number,
  activation: { id: string; event: string },
  options: string[][],
  random: SeededRandom,
) {
  const [{ name }, { city, country }] = [random.one(MODELS.leads).company, random.one(MODELS.leads).company];
  const company = `${name} ${city}`;
  const [registered, checkedIn] = [random.isLikely(0.5), true];
  const phone = { number: `+1 ${201 + (n % 780)} 555 01${10 + (n % 90)}`, type: 'MOBILE', preferred: true };
  return {
    id: random.id(at, `lead ${n}`),
    createdAt: iso(at),
    ...random.name(),
    isEnriched: random.isLikely(0.35),
    email: random.isLikely(0.9) ? `lead${n + 1}@${company.toLowerCase().replaceAll(' ', '-')}.example` : null,
    jobTitle: random.one(MODELS.leads).jobTitle,
    company: { name: company, city, country },
    phoneNumbers: { leadProvided: random.isLikely(0.6) ? [phone] : [] },
    tags: options.filter(() => random.isLikely(0.8)).map((ids) => ({ tagOptionId: random.one(ids) })),
    activations: random.isLikely(0.4) ? [{ activationId: activation.id, registered, checkedIn }] : [],
    events: [{ event: activation.event, registered, checkedIn, associatedAt: iso(at) }],
    remoteIds: random.isLikely(0.3) ? [{ id: `003-${n + 1}`, integrationType: 'SALES_FORCE' }] : [],
  };
}

/** Random choices, which are the same for the same seed. */
class SeededRandom {
  private state: number;

  constructor(private readonly seed: Seed) {
    this.state = 1 + (seed.seed % 2147483646);
    repeat(5, this.next); // The first numbers of small seeds are similar.
  }

  /** Returns a number from 0 up to 1, by Lehmer's generator (Park and Miller's "minimal standard"). */
  next = (): number => {
    this.state = (this.state * 48271) % 2147483647;
    return this.state / 2147483647;
  };
  isLikely = (share: number): boolean => this.next() < share;
  one = <T>(all: readonly T[]): T => all[Math.floor(this.next() * all.length)] as T;
  name = () => ({ firstName: this.one(MODELS.leads).firstName, lastName: this.one(MODELS.leads).lastName });

  /** A version 7 UUID, which sorts by time. The rest of it is a digest of the name. */
  id(at: number, name: string): string {
    const digest = createHash('sha256').update(`${this.seed.organizationId} ${this.seed.seed} ${name}`).digest();
    return uuidV7(at, digest);
  }
}
