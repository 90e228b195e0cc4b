import { randomUUID } from 'node:crypto';

/** Valid bodies and records, every field overridable. Words and URLs are unique, because the catalogue is shared. */

export const unique = (): string => randomUUID().replaceAll('-', '').slice(0, 12);

/** The `sourceType` of what suites add to the catalogue: by it a run against a deployment removes that. */
export const TEST_MARK = 'e2e';

export const eventInput = (over: object = {}) => ({
  eventName: 'Harbour Expo',
  eventType: 'TRADE_SHOW',
  startDate: '2026-05-04',
  endDate: '2026-05-06',
  createdByEmail: 'ops@example.com',
  ...over,
});

export const leadInput = (over: object = {}) => ({
  createdByEmail: 'booth@example.com',
  firstName: 'Ada',
  lastName: 'Rowe',
  companyName: 'Cobalt Systems',
  ...over,
});

export const phone = (over: object = {}) => ({ number: '+44 20 7946 0123', type: 'MOBILE', preferred: true, ...over });

export const industryEventInput = (over: object = {}) => ({
  name: `Expo ${unique()}`,
  startDate: '2026-05-04T09:00:00.000Z',
  endDate: '2026-05-06T17:00:00.000Z',
  sourceType: TEST_MARK,
  sourceId: 'a-1',
  eventType: 'TRADE_SHOW',
  venueCity: 'Łódź',
  venueState: 'Łódzkie',
  venueCountry: 'Poland',
  venueName: 'Hala Expo',
  venueFullAddress: 'al. Politechniki 4, Łódź',
  venueCoordinates: '51.747,19.451',
  numberOfAttendees: 4000,
  numberOfExhibitors: 120,
  attendeeCost: '€90',
  boothCost: '€4,000',
  exhibitorIndustries: ['Machinery'],
  attendeePersonas: ['Buyers'],
  keywords: ['pumps'],
  website: 'https://example.com',
  description: 'Three days on pumps.',
  eventUrl: `https://example.com/${unique()}`,
  ...over,
});

/** One record of each kind that `import` takes, linked with each other, with fresh ids; and all of them as a dataset. */
export function createExhibitor() {
  const tagGroup = {
    id: randomUUID(),
    name: 'Interest',
    status: 'PUBLISHED',
    allowsMultipleSelection: true,
    displayOrder: 3,
    usageInstructions: 'Choose all that apply.',
    required: false,
    allEvents: true,
    tagOptions: [
      { id: randomUUID(), displayOrder: 1, value: 'Valves' },
      { id: randomUUID(), displayOrder: 0, value: 'Pumps' },
    ],
  };
  const location = {
    streetAddress: '1 Quay Street',
    city: 'Hamburg',
    state: null,
    zip: '20457',
    country: 'Germany',
    latitude: '53.5623',
    longitude: '9.9764',
    timeZone: 'Europe/Berlin',
  };
  const users = [
    { email: 'mara@example.com', firstName: 'Mara', lastName: 'Lindt' },
    { email: 'theo@example.com', firstName: null, lastName: null },
  ];
  const event = {
    ref: 'expo',
    name: 'Harbour Expo',
    type: 'TRADE_SHOW',
    registrationEnabled: true,
    startDate: '2026-05-04',
    endDate: '2026-05-06',
    location,
    tagGroups: [tagGroup.id],
    users: users.map(({ email }) => email),
  };
  const activation = {
    id: randomUUID(),
    event: 'expo',
    name: 'Booth 12',
    type: 'BOOTH',
    startDate: '2026-05-04',
    endDate: '2026-05-06',
    startTime: '09:00:00',
    endTime: '18:00:00',
    createdBy: 'mara@example.com',
    location,
    users: ['mara@example.com', 'theo@example.com'],
    numberOfScans: 7,
  };
  const lead = {
    id: randomUUID(),
    createdAt: '2026-05-04T10:00:00.000Z',
    firstName: 'Ada',
    lastName: 'Rowe',
    email: 'ada@example.com',
    description: 'Met at the booth.',
    linkedin: 'https://linkedin.example.com/ada',
    facebook: 'ada.rowe',
    twitter: '@ada',
    jobTitle: 'Buyer',
    address: '2 Harbour Road',
    isEnriched: true,
    numberOfScans: 2,
    lastScannedBy: 'mara@example.com',
    personalEmails: 'ada@home.example.com ; a@home.example.com',
    professionalEmails: null,
    company: {
      name: 'Cobalt Systems',
      industry: 'Machinery',
      linkedin: 'https://linkedin.example.com/cobalt',
      streetAddress: '3 Mill Lane',
      city: 'Leeds',
      state: null,
      zip: 'LS1',
      country: 'United Kingdom',
    },
    phoneNumbers: { leadProvided: [phone()], serviceProvided: [phone({ type: 'HQ', preferred: false })] },
    tags: tagGroup.tagOptions.map(({ id }) => ({ tagOptionId: id })),
    activations: [{ activationId: activation.id, registered: true, checkedIn: false }],
    events: [{ event: 'expo', registered: true, checkedIn: true }],
    remoteIds: [
      { id: 'w-1', integrationType: 'WEBHOOK' },
      { id: 'h-1', integrationType: 'HUB_SPOT' },
    ],
  };
  const activity = (over: object = {}) => ({
    id: randomUUID(),
    createdAt: '2026-05-04T11:00:00.000Z',
    createdBy: 'mara@example.com',
    eventType: 'NOTE',
    eventNotes: 'Call back.',
    associatedLead: lead.id,
    associatedCampaign: randomUUID(),
    associatedEvent: 'expo',
    associatedActivation: activation.id,
    associatedTagOption: tagGroup.tagOptions[0]?.id,
    ...over,
  });
  const note = activity();
  const dataset = {
    users,
    tagGroups: [tagGroup],
    events: [event],
    activations: [activation],
    leads: [lead],
    leadActivityEvents: [note],
  };
  /** By kind, as endpoints name kinds; and of what no endpoint takes. */
  const ids = {
    lead: lead.id,
    activation: activation.id,
    tagGroup: tagGroup.id,
    tagOption: lead.tags[0]?.tagOptionId ?? '',
    note: note.id,
    campaign: note.associatedCampaign,
  };
  return { users, tagGroup, event, activation, lead, activity, note, location, dataset, ids };
}
