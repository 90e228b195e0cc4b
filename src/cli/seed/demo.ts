import { v5 as uuidOf } from 'uuid';

/** Any constant: the demo's ids are derived from names, so that they are the same on every machine. */
const NAMESPACE = '5d1d1c52-6c0e-4a5a-9a58-0f7c1c1f7a10';
const id = (name: string): string => uuidOf(name, NAMESPACE);

const USERS = [
  ['mara.lindt', 'Mara', 'Lindt'],
  ['theo.okafor', 'Theo', 'Okafor'],
  ['ines.duarte', 'Inês', 'Duarte'],
].map(([name, firstName, lastName]) => ({ email: `${name}@exhibitor.example.com`, firstName, lastName }));
const userAt = (index: number): string => USERS[index % USERS.length]?.email ?? '';

export const INTERESTS = ['Pumps', 'Valves', 'Sensors', 'Service contracts'];
export const TEMPERATURES = ['Hot', 'Warm', 'Cold'];

const tagGroup = (name: string, options: string[], displayOrder: number, allowsMultipleSelection: boolean) => ({
  id: id(name),
  name,
  status: 'PUBLISHED',
  allowsMultipleSelection,
  displayOrder,
  usageInstructions: allowsMultipleSelection ? 'Choose all that the visitor asked about.' : null,
  required: !allowsMultipleSelection,
  allEvents: true,
  tagOptions: options.map((value, index) => ({ id: id(`${name}/${value}`), displayOrder: index, value })),
});

export const PLACES = [
  { city: 'Hamburg', country: 'Germany', timeZone: 'Europe/Berlin', latitude: '53.5623', longitude: '9.9764' },
  { city: 'Rotterdam', country: 'Netherlands', timeZone: 'Europe/Amsterdam', latitude: '51.9244', longitude: '4.4777' },
  { city: 'Porto', country: 'Portugal', timeZone: 'Europe/Lisbon', latitude: '41.1579', longitude: '-8.6291' },
];

const EVENTS = [
  ['harbour-expo', 'Harbour Expo', 'TRADE_SHOW', '2026-05-04', '2026-05-06'],
  ['flow-summit', 'Flow Summit', 'CONFERENCE', '2026-06-17', '2026-06-18'],
  ['river-dinner', 'River Dinner', 'DINNER_MEAL', '2026-09-10', '2026-09-10'],
].map(([ref = '', name = '', type, startDate = '', endDate = ''], index) => ({
  ref,
  name,
  type,
  registrationEnabled: index !== 2,
  startDate,
  endDate,
  location: { streetAddress: `${index + 1} Quay Street`, ...PLACES[index] },
  tagGroups: [id('Interest'), id('Temperature')],
  users: USERS.slice(0, index + 1).map(({ email }) => email),
}));

const ACTIVATIONS = EVENTS.flatMap((event, index) =>
  [
    ['Booth', 'BOOTH', '09:00:00', '18:00:00'],
    ['Breakfast', 'BREAKFAST', '07:30:00', '08:45:00'],
  ].map(([name, type, startTime, endTime]) => ({
    id: id(`${event.ref}/${name}`),
    event: event.ref,
    name: `${event.name}: ${name}`,
    type,
    startDate: event.startDate,
    endDate: event.endDate,
    startTime,
    endTime,
    createdBy: userAt(index),
    location: event.location,
    users: [userAt(index), userAt(index + 1)],
    numberOfScans: 7 * (index + 1),
  })),
);

export const PEOPLE = [
  ['Ada', 'Rowe', 'Cobalt Systems', 'Head of Procurement'],
  ['Ben', 'Ito', 'Quarry Labs', 'Plant Engineer'],
  ['Chiara', 'Sandoval', 'Tidewater Group', 'Managing Director'],
  ['Dmitri', 'Vance', 'Northlock', 'Buyer'],
  ['Eun-ji', 'Park', 'Hanbit Marine', 'Maintenance Lead'],
  ['Fatou', 'Ndiaye', 'Sahel Water', 'Project Manager'],
  ['Gwen', 'Pryce', 'Bryn Engineering', 'Consultant'],
  ['Håkon', 'Lie', 'Fjordline Process', 'Operations Manager'],
  ['Isla', 'Moreau', 'Atelier Hydraulique', 'Designer'],
  ['João', 'Teles', 'Douro Tech', 'CTO'],
  ['Kavya', 'Rao', 'Indus Controls', 'Automation Engineer'],
  ['Łukasz', 'Wrona', 'Odra Pompy', 'Technical Director'],
];

const leadId = (index: number): string => id(`lead ${index % PEOPLE.length}`);
const minutes = (index: number): string => new Date(Date.UTC(2026, 4, 4, 9, 7 * index)).toISOString();

const LEADS = PEOPLE.map(([firstName = '', lastName, company = '', jobTitle], index) => {
  const domain = `${company.toLowerCase().replaceAll(' ', '-')}.example.com`;
  const event = EVENTS[index % EVENTS.length];
  return {
    id: leadId(index),
    createdAt: minutes(index),
    firstName,
    lastName,
    email: `lead${index + 1}@${domain}`,
    description: 'Stopped by the demo pump.',
    linkedin: `https://www.linkedin.com/in/demo-${index + 1}`,
    jobTitle,
    address: `${index + 10} Harbour Road`,
    isEnriched: index % 2 === 0,
    numberOfScans: 1 + (index % 3),
    lastScannedBy: userAt(index),
    professionalEmails: index % 2 === 0 ? `lead${index + 1}@${domain}; office@${domain}` : null,
    company: {
      name: company,
      industry: 'Machinery',
      city: PLACES[index % 3]?.city,
      country: PLACES[index % 3]?.country,
    },
    phoneNumbers: {
      leadProvided: [{ number: `+44 20 7946 0${100 + index}`, type: 'MOBILE', preferred: true }],
      serviceProvided: index % 2 === 0 ? [{ number: `+44 20 7946 0${200 + index}`, type: 'HQ', preferred: false }] : [],
    },
    tags: [
      { tagOptionId: id(`Temperature/${TEMPERATURES[index % 3]}`) },
      { tagOptionId: id(`Interest/${INTERESTS[index % 4]}`) },
    ],
    activations: [{ activationId: id(`${event?.ref}/Booth`), registered: true, checkedIn: index % 2 === 0 }],
    events: [{ event: event?.ref, registered: true, checkedIn: index % 2 === 0 }],
    remoteIds: index % 3 === 0 ? [{ id: `crm-${1000 + index}`, integrationType: 'HUB_SPOT' }] : [],
  };
});

export const ACTIONS = ['NOTE', 'PHONE', 'EMAIL', 'CALENDAR', 'LINKEDIN'];

const ACTIVITY_EVENTS = Array.from({ length: 20 }, (_, index) => ({
  id: id(`activity ${index}`),
  createdAt: minutes(20 + index),
  createdBy: userAt(index),
  eventType: ACTIONS[index % ACTIONS.length],
  eventNotes: index % 2 === 0 ? 'Asked for a quotation and a visit to the plant.' : null,
  associatedLead: leadId(index),
  associatedEvent: EVENTS[index % EVENTS.length]?.ref,
  associatedActivation: index % 4 === 0 ? id(`${EVENTS[index % EVENTS.length]?.ref}/Booth`) : null,
  associatedTagOption: index % 5 === 0 ? id('Temperature/Hot') : null,
}));

const INDUSTRY_EVENTS = [
  ['Pump World', 'Düsseldorf', 'Germany', 'pumps'],
  ['Valve Days', 'Bologna', 'Italy', 'valves'],
  ['Água Expo', 'São Paulo', 'Brazil', 'water'],
  ['Process Nordics', 'Gothenburg', 'Sweden', 'process industry'],
  ['Sensor Forum', 'Łódź', 'Poland', 'sensors'],
  ['Hydro Asia', 'Busan', 'South Korea', 'hydropower'],
  ['Plant Maintenance Live', 'Birmingham', 'United Kingdom', 'maintenance'],
  ['Clean Water Congress', 'Nairobi', 'Kenya', 'water'],
].map(([name = '', venueCity, venueCountry, keyword = ''], index) => ({
  id: id(name),
  name,
  startDate: `2026-${String(index + 3).padStart(2, '0')}-09T00:00:00.000Z`,
  endDate: `2026-${String(index + 3).padStart(2, '0')}-11T00:00:00.000Z`,
  sourceType: 'demo',
  eventType: 'TRADE_SHOW',
  venueCity,
  venueCountry,
  numberOfAttendees: 1000 * (index + 2),
  numberOfExhibitors: 40 * (index + 1),
  exhibitorIndustries: ['Machinery', 'Water'],
  attendeePersonas: ['Engineers', 'Buyers'],
  keywords: [keyword, 'trade show'],
  description: `Three days on ${keyword}.`,
  eventUrl: `https://${name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z]+/g, '-')}.example.com`,
  isBookmarked: index < 2,
}));

/** A small lively dataset, all of it invented. */
export const demo = {
  users: USERS,
  tagGroups: [tagGroup('Temperature', TEMPERATURES, 0, false), tagGroup('Interest', INTERESTS, 1, true)],
  events: EVENTS,
  activations: ACTIVATIONS,
  leads: LEADS,
  leadActivityEvents: ACTIVITY_EVENTS,
  industryEvents: INDUSTRY_EVENTS,
};
