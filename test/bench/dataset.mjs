// Invented data, the same on every machine, as the operator's `import` reads it: the records of the demo, multiplied.
import { DEMO_RECORDS } from '../../dist/src/operator/demo/demo.js';

/** Numbers from 0 up to 1, the same for the same seed (the minimal standard generator of Lehmer, Park and Miller). */
export function random(seed) {
  let state = (seed % 2147483646) + 1;
  const next = () => (state = (state * 48271) % 2147483647) / 2147483647;
  next();
  const below = (limit) => Math.floor(next() * limit);
  return { below, pick: (list) => list[below(list.length)] };
}

const moment = (minutes) => new Date(Date.UTC(2025, 0, 6) + minutes * 60_000).toISOString();
/** Of version 7, as the server makes them: they grow with the number, as with time. */
const uuid = (organization, kind, number) =>
  `0194${organization.toString(16).padStart(4, '0')}-000${kind}-7000-8000-${number.toString(16).padStart(12, '0')}`;
export const leadId = (organization, n) => uuid(organization, 1, n);

const ACTIVITIES_A_LEAD = 3;
/** About 100 leads an event: event k has the leads k, k + events, k + 2 events, … */
const eventsOf = (leads) => Math.ceil(leads / 100);
export const leadOfEvent = (leads, event, index) => (event + eventsOf(leads) * index) % leads;
const ref = (n) => `event-${n}`;

const TOPICS = 'brewing ceramics drones fisheries glass hydrogen logistics optics packaging rail welding'.split(' ');
const KINDS = 'Congress Days Expo Fair Forum Summit'.split(' ');
const CITIES = 'Antwerp Bilbao Bristol Cork Gdańsk Kobe Leipzig Malmö Nantes Perth Porto Turin Valencia'.split(' ');

/** The n-th record of a section of an organization that has so many leads. `at` picks a record of the demo. */
const RECORDS = {
  users: (n) => DEMO_RECORDS.users[n],
  tagGroups: (n, { own }) => own.tagGroups[n],
  events: (n, { at }) => ({ ...at('events', n), ref: ref(n), name: `Event ${n}` }),
  activations: (n, { organization, at }) => ({ ...at('activations', n), id: uuid(organization, 2, n), event: ref(n) }),
  leads: (n, { organization, at, leads }) => ({
    ...at('leads', n),
    id: leadId(organization, n),
    createdAt: moment(n * 10),
    email: `lead${n}@example.com`,
    phoneNumbers: {
      leadProvided: [{ number: `+44 20 7946 ${n}`, type: 'MOBILE', preferred: true }],
      serviceProvided: [{ number: `+44 20 7947 ${n}`, type: 'HQ', preferred: false }],
    },
    activations: [...new Set([n, n + 1].map((event) => event % eventsOf(leads)))].map((event, place) => ({
      activationId: uuid(organization, 2, event),
      registered: true,
      checkedIn: place === 0,
    })),
    events: [{ event: ref(n % eventsOf(leads)), registered: true, checkedIn: n % 3 === 0 }],
    remoteIds: [{ id: `crm-${n}`, integrationType: 'HUB_SPOT' }],
  }),
  leadActivityEvents(n, { organization, at, leads }) {
    const lead = Math.floor(n / ACTIVITIES_A_LEAD);
    const { createdBy, eventType, eventNotes } = at('leadActivityEvents', n);
    const associated = { associatedLead: leadId(organization, lead), associatedEvent: ref(lead % eventsOf(leads)) };
    return {
      id: uuid(organization, 3, n),
      createdAt: moment(lead * 10 + n),
      createdBy,
      eventType,
      eventNotes,
      ...associated,
    };
  },
  industryEvents(n, { at }) {
    const { pick } = random(n);
    const [topic, kind, city] = [pick(TOPICS), pick(KINDS), pick(CITIES)];
    const text = `Makers and buyers of ${topic} meet in ${city}, with workshops on ${pick(TOPICS)} and ${pick(TOPICS)}.`;
    const found = { keywords: [topic, pick(TOPICS)], venueCity: city, description: text };
    const name = `${topic} ${kind} ${city} ${2026 + (n % 3)}`;
    return {
      ...at('industryEvents', n),
      id: uuid(0, 4, n),
      name,
      ...found,
      eventUrl: `https://fairs.example.com/${n}`,
    };
  },
};

/** The records of an organization, {section, record}, what is referred to first. */
export function* dataset(organization, { leads, industryEvents = 0 }) {
  // Ids are unique among all organizations.
  const prefix = `"${organization.toString(16).padStart(8, '0')}-`;
  const own = JSON.parse(JSON.stringify(DEMO_RECORDS).replace(/"[0-9a-f]{8}-(?=[0-9a-f]{4}-[0-9a-f]{4}-)/g, prefix));
  const at = (section, n) => own[section][n % own[section].length];
  const counts = {
    users: own.users.length,
    tagGroups: own.tagGroups.length,
    events: eventsOf(leads),
    activations: eventsOf(leads),
    leads,
    leadActivityEvents: leads * ACTIVITIES_A_LEAD,
    industryEvents,
  };
  for (const [section, count] of Object.entries(counts)) {
    for (let n = 0; n < count; n++) yield { section, record: RECORDS[section](n, { organization, own, at, leads }) };
  }
}

/** Search terms of two and three words, some of them a phrase; few find nothing in a large catalogue. */
export function searches(count) {
  const { pick } = random(77);
  const forms = [
    () => `${pick(TOPICS)} ${pick(CITIES)}`,
    () => `${pick(TOPICS)} ${pick(KINDS)} ${pick(CITIES)}`,
    () => `"${pick(KINDS)} ${pick(CITIES)}"`,
  ];
  return Array.from({ length: count }, (_, n) => forms[n % forms.length]());
}
