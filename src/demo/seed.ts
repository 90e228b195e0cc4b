import { createHash } from 'node:crypto';
import { uuidV7 } from '../database/uuid';
import type { RawRecord } from '../datasets/dataset';

/** The input of the generator. The same values produce the same records. */
export interface Seed {
  organizationId: number;
  seed: number;
  leads: number;
  /** A date (YYYY-MM-DD) that is after all records, except for the last event. */
  until: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_MS = 3 * 365 * DAY_MS;
const INTERESTS = ['Pumps', 'Valves', 'Sensors', 'Service contracts'];
const TAG_GROUPS = { Temperature: ['Hot', 'Warm', 'Cold'], Interest: INTERESTS };
const ACTIONS = ['NOTE', 'PHONE', 'EMAIL', 'CALENDAR', 'LINKEDIN'];
const NOTES = ['Asked for a quotation.', 'Wants a visit to the plant.', 'Budget is approved.', 'Left a message.'];
/** The number of activity events of successive leads. The pattern repeats. */
const ACTIVITIES_PER_LEAD = [2, 0, 1, 0, 1];

const LOCATIONS = [
  { city: 'Hamburg', country: 'Germany', timeZone: 'Europe/Berlin', latitude: '53.5623', longitude: '9.9764' },
  { city: 'Rotterdam', country: 'Netherlands', timeZone: 'Europe/Amsterdam', latitude: '51.9244', longitude: '4.4777' },
  { city: 'Porto', country: 'Portugal', timeZone: 'Europe/Lisbon', latitude: '41.1579', longitude: '-8.6291' },
];
const FIRST_NAMES = ['Ada', 'Ben', 'Chiara', 'Dmitri', 'Eun-ji', 'Fatou', 'Gwen', 'Håkon', 'João', 'Kavya', 'Łukasz'];
const LAST_NAMES = ['Rowe', 'Ito', 'Sandoval', 'Vance', 'Park', 'Ndiaye', 'Pryce', 'Lie', 'Teles', 'Rao', 'Wrona'];
const FIRMS = ['Cobalt', 'Quarry', 'Tidewater', 'Northlock', 'Hanbit', 'Sahel', 'Fjordline', 'Douro', 'Indus', 'Odra'];
const TRADES = ['Systems', 'Labs', 'Group', 'Marine', 'Water'];
const TITLES = ['Head of Procurement', 'Plant Engineer', 'Managing Director', 'Buyer', 'Project Manager', 'CTO'];

const iso = (at: number): string => new Date(at).toISOString();
const repeat = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Generates the records of a made-up organization in constant memory. Each record comes after those that it refers to. */
export function* inventedRecords(seed: Seed): Generator<RawRecord> {
  const random = new SeededRandom(seed);
  const end = Date.parse(seed.until);
  const createdAt = iso(end - YEARS_MS);
  const eventCount = 3 + Math.min(400, Math.round(seed.leads / 400));
  const users = repeat(4 + Math.min(400, Math.round(Math.sqrt(seed.leads) / 4)), (n) => {
    return { email: `user${n + 1}@exhibitor.example`, ...random.name(), createdAt };
  });
  for (const record of users) yield { section: 'users', record };
  const emails = users.map(({ email }) => email);
  const tagGroups = Object.entries(TAG_GROUPS).map(([name, values], order) => {
    const tagOptions = values.map((value, n) => ({ id: random.id(end, `${name}/${value}`), displayOrder: n, value }));
    const settings = { displayOrder: order, allowsMultipleSelection: order > 0, allEvents: true };
    return { id: random.id(end, name), createdAt, name, ...settings, tagOptions };
  });
  for (const record of tagGroups) yield { section: 'tagGroups', record };
  const events = repeat(eventCount, (n) => {
    const start = end - YEARS_MS + Math.floor(((n + 0.5) * YEARS_MS) / (eventCount - 1) / DAY_MS) * DAY_MS;
    const [location, day, createdBy] = [random.one(LOCATIONS), iso(start).slice(0, 10), random.one(emails)];
    const name = `${location.city} ${random.one(INTERESTS)} Expo ${day.slice(0, 4)}`;
    const settings = { type: 'TRADE_SHOW', startDate: day, endDate: day, tagGroups: tagGroups.map(({ id }) => id) };
    return { ref: `seed-${seed.seed}-${n + 1}`, createdAt, name, ...settings, location, users: [createdBy], createdBy };
  });
  for (const record of events) yield { section: 'events', record };
  const activations = events.map(({ ref, startDate, endDate, createdBy, name, location }) => {
    const hours = { startDate, endDate, startTime: '09:00:00', endTime: '18:00:00', createdAt };
    const id = random.id(Date.parse(startDate), `booth ${ref}`);
    return { id, event: ref, name: `${name}: booth`, type: 'BOOTH', ...hours, createdBy, location, users: [createdBy] };
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
      const done = { eventType: random.one(ACTIONS), eventNotes: random.one(NOTES), createdBy: random.one(emails) };
      const id = random.id(doneAt, `activity ${n}/${nth}`);
      yield { section: 'leadActivityEvents', record: { id, createdAt: iso(doneAt), ...about, ...done } };
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
  const { city, country } = random.one(LOCATIONS);
  const company = `${random.one(FIRMS)} ${random.one(TRADES)} ${city}`;
  const [isEnriched, registered, checkedIn] = [random.isLikely(0.35), random.isLikely(0.5), true];
  const phone = { number: `+1 ${201 + (n % 780)} 555 01${10 + (n % 90)}`, type: 'MOBILE', preferred: true };
  return {
    id: random.id(at, `lead ${n}`),
    createdAt: iso(at),
    ...random.name(),
    isEnriched,
    email: random.isLikely(0.9) ? `lead${n + 1}@${company.toLowerCase().replaceAll(' ', '-')}.example` : null,
    jobTitle: random.one(TITLES),
    company: { name: company, industry: isEnriched ? 'Machinery' : null, city, country },
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
  name = () => ({ firstName: this.one(FIRST_NAMES), lastName: this.one(LAST_NAMES) });

  /** A version 7 UUID, which sorts by time. The rest of it is a digest of the name. */
  id(at: number, name: string): string {
    const digest = createHash('sha256').update(`${this.seed.organizationId} ${this.seed.seed} ${name}`).digest();
    return uuidV7(at, digest);
  }
}
