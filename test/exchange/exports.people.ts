/** What a person reads in the files of `exports/`, file by file. All people are invented. */

/** A lead as GET shows it, as far as the file has it. */
export interface ExpectedLead {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  jobTitle: string | null;
  company: Record<string, string | null>;
  /** `MOBILE +44 …` */
  phones: string[];
  [field: string]: unknown;
}

interface Person extends ExpectedLead {
  /** The company's city, state, zip and country. */
  place: [city: string, state: string | null, zip: string, country: string];
}

const person = (
  [firstName, lastName]: [string | null, string | null],
  email: string,
  jobTitle: string | null,
  company: string,
  place: Person['place'],
): Person => ({ firstName, lastName, email, jobTitle, company: { name: company }, phones: [], place });

const ADA = person(['Ada', 'Rowe'], 'ada.rowe@cobalt.example', 'Head of Procurement', 'Cobalt Systems', [
  'London',
  null,
  'EC1A 1BB',
  'United Kingdom',
]);
const BEN = person(['Ben', 'Ito'], 'ben.ito@quarry.example', null, 'Quarry Labs', [
  'Austin',
  'TX',
  '78701',
  'United States',
]);
const ZOE = person(['Zoë', 'Ångström-Núñez'], 'zoe@gruen.example', 'Geschäftsführerin', 'Grün & Söhne GmbH', [
  'Essen',
  null,
  '45127',
  'Germany',
]);
const MAIRE = person(['Máire', "O'Brien"], 'maire.obrien@failte.example', 'VP "Field" Sales', 'Fáilte, Ltd.', [
  'Dublin',
  null,
  'D02 X285',
  'Ireland',
]);
const KIM = person(['Kim', null], 'kim@sum.example', 'Buyer', '=Sum Corp', [
  'Seoul',
  null,
  '04524',
  'Korea, Republic of',
]);
const TARO = person(['太郎', '山田'], 'taro@yamada.example', '部長', '山田商事株式会社', [
  '東京',
  null,
  '100-0001',
  'Japan',
]);
const PEOPLE = [ADA, BEN, ZOE, MAIRE, KIM, TARO];

type Change = (lead: Person, index: number) => Partial<ExpectedLead>;

/** The people with what a file says of them. */
const peopleWith = (...changes: Change[]): ExpectedLead[] =>
  PEOPLE.map((each, index) => {
    const { place: _, ...lead } = Object.assign({}, each, ...changes.map((change) => change(each, index))) as Person;
    return lead;
  });

/** The six phone numbers of files that have landlines and mobiles. */
const phones = (work: string): Change => {
  const numbers = [
    [`${work} +44 20 7946 0123`, 'MOBILE +44 7700 900123'],
    ['MOBILE +1 202-555-0147'],
    [`${work} 0201 555 0199`],
    [`${work} (01) 555 0100 ext. 7`],
    [`${work} 2025550163`],
    ['MOBILE +81 90 0000 0000'],
  ];
  return (_, index) => ({ phones: numbers[index] });
};

/** Files that have one number only, of three of the people. */
const oneNumber = (type: string): Change => {
  const numbers = [[`${type} +44 7700 900123`], [`${type} +1 202-555-0147`], [], [], [], [`${type} +81 90 0000 0000`]];
  return (_, index) => ({ phones: numbers[index] });
};

const companyAddress =
  (more: (index: number) => Record<string, string | null> = () => ({}), hasStates = true): Change =>
  ({ company, place: [city, state, zip, country] }, index) => ({
    company: { ...company, city, state: hasStates ? state : null, zip, country, ...more(index) },
  });

const lastNameOfKim =
  (firstName: string | null, lastName: string): Change =>
  (_, index) =>
    index === 4 ? { firstName, lastName } : {};

const dates =
  (texts: string[]): Change =>
  (_, index) => ({ createdAt: texts[index] });
/** Six moments, the part that differs being a number that grows by one. */
const datesFrom = (first: number, text: (n: string) => string): Change =>
  dates(PEOPLE.map((_, index) => text(String(first + index).padStart(2, '0'))));

const german: Change[] = [
  phones('UNKNOWN'),
  companyAddress(() => ({ streetAddress: 'Hafenstr. 1' }), false),
  () => ({ description: 'Angebot; bitte anrufen\nam Dienstag' }),
];

const attendee = (
  firstName: string,
  lastName: string,
  email: string | null,
  name: string,
  jobTitle: string | null,
): ExpectedLead => ({ firstName, lastName, email, jobTitle, company: { name }, phones: [] });

const HUBSPOT_IDS = ['1005120077', '1015120177', '1025120277', '1035120377', '1045120477', '1055120577'];

export const EXPORTS: Record<string, ExpectedLead[]> = {
  'badge-scanner.csv': peopleWith(
    phones('UNKNOWN'),
    companyAddress(),
    lastNameOfKim(null, 'Kim'),
    () => ({ description: 'Wants a demo' }),
    dates(['04', '04', '04', '05', '05', '05'].map((day) => `2026-05-${day}T00:00:00.000Z`)),
  ),
  'cvent-attendees.csv': peopleWith(
    phones('OFFICE'),
    companyAddress((index) => ({ streetAddress: index === 0 ? '1 Dock St, Unit 4' : null })),
    (_, index) => ({ createdAt: `2026-05-${13 + index}T${13 + index}:05:00.000Z` }),
  ),
  'eventbrite-attendees.csv': peopleWith(
    oneNumber('MOBILE'),
    ({ place: [city, state, zip, country] }) => ({
      address: [zip, city, state, country].filter(Boolean).join(', '),
    }),
    datesFrom(10, (n) => `2026-04-${n}T18:22:41.000Z`),
  ),
  'excel-csv-utf8.csv': peopleWith(...german),
  'excel-unicode-text.txt': peopleWith(...german),
  'google-contacts.csv': peopleWith(
    phones('OFFICE'),
    (_, index) => {
      // The labels beside the numbers are not read.
      if (index === 1) return { phones: ['OFFICE +1 202-555-0147'] };
      return index === 5 ? { phones: ['OFFICE +81 90 0000 0000'] } : {};
    },
    companyAddress(),
    (_, index) => ({
      tags: index === 0 ? ['Harbour Expo', '* myContacts'] : ['* myContacts'],
      description: index === 0 ? 'Met at the harbour\nCall back' : null,
      personalEmails: index === 0 ? 'ada@home.example' : null,
      professionalEmails: null,
    }),
    (_, index) => (index === 0 ? { firstName: 'Ada Lou' } : {}),
  ),
  'hubspot-contacts.csv': peopleWith(
    phones('UNKNOWN'),
    companyAddress(),
    datesFrom(10, (n) => `2026-05-04T09:${n}:00.000Z`),
    (_, index) => ({ remoteIds: [{ id: HUBSPOT_IDS[index], integrationType: 'HUB_SPOT' }] }),
  ),
  'linkedin-connections.csv': peopleWith(
    ({ email }, index) => ({ email: index === 0 ? email : null }),
    (_, index) => ({ linkedin: `https://www.linkedin.com/in/invented-${index}` }),
    datesFrom(4, (n) => `2026-05-${n}T00:00:00.000Z`),
  ),
  'mailchimp-audience.csv': peopleWith(
    () => ({ jobTitle: null }),
    (_, index) => ({
      phones: [
        ['UNKNOWN +44 20 7946 0123'],
        [],
        ['UNKNOWN 0201 555 0199'],
        ['UNKNOWN (01) 555 0100 ext. 7'],
        ['UNKNOWN 2025550163'],
        [],
      ][index],
      address: index === 0 ? '1 Dock St  London  EC1A 1BB  GB' : null,
      tags: index === 0 ? ['Harbour Expo', 'Hot'] : [],
    }),
    ({ company }) => ({ company: { ...company, state: null } }),
  ),
  'pipedrive-people.csv': peopleWith(
    phones('OFFICE'),
    datesFrom(10, (n) => `2026-05-04T09:${n}:00.000Z`),
    ({ place: [city, , zip, country] }, index) => ({
      address: `${city}, ${zip}, ${country}`,
      remoteIds: [{ id: String(41 + index), integrationType: 'PIPE_DRIVE' }],
      tags: index % 2 === 1 ? ['Hot lead'] : [],
      personalEmails: index === 0 ? 'ada@home.example' : null,
    }),
  ),
  'pretix-order-positions.csv': peopleWith(
    oneNumber('UNKNOWN'),
    companyAddress(),
    datesFrom(10, (n) => `2026-04-${n}T00:00:00.000Z`),
    ({ email }) => ({ professionalEmails: `orders@${email?.split('@')[1]}` }),
  ),
  'salesforce-leads-report.csv': peopleWith(
    phones('UNKNOWN'),
    companyAddress((index) => ({ streetAddress: index === 0 ? '1 Dock St\nUnit 4' : null })),
    lastNameOfKim('Kim', 'Unknown'),
    datesFrom(4, (n) => `2026-05-${n}T00:00:00.000Z`),
    (_, index) => ({
      description: 'Met at booth',
      remoteIds: [{ id: `00Q5g00000AbCd${index}`, integrationType: 'SALES_FORCE' }],
    }),
  ),
  'zoho-leads.csv': peopleWith(
    phones('UNKNOWN'),
    companyAddress(() => ({ industry: 'Manufacturing' })),
    datesFrom(10, (n) => `2026-05-04T09:${n}:33.000Z`),
    (_, index) => ({
      description: 'Wants a demo',
      remoteIds: [{ id: `zcrm_48768760000012345${index}`, integrationType: 'ZOHO' }],
      tags: index === 0 ? ['Hot', 'Harbour'] : [],
      twitter: index === 0 ? '@adarowe' : null,
      professionalEmails: index === 0 ? 'ada@home.example' : null,
    }),
  ),
  'outlook-contacts.csv': [
    {
      firstName: 'Ada',
      lastName: 'Rowe',
      email: 'ada.rowe@cobalt.example',
      jobTitle: 'Head of Procurement',
      address: '9 Hill Rd, Leeds, United Kingdom',
      company: { name: 'Cobalt Systems', streetAddress: '1 Dock St', city: 'London', country: 'United Kingdom' },
      phones: ['OFFICE +44 20 7946 0123', 'LANDLINE +44 113 496 0999', 'MOBILE +44 7700 900123'],
    },
    {
      ...attendee('Ben', 'Ito', 'ben.ito@quarry.example', 'Quarry Labs', null),
      phones: ['MOBILE +1 202-555-0147'],
    },
  ],
  'thunderbird-address-book.csv': [
    {
      ...attendee('Ada', 'Rowe', 'ada.rowe@cobalt.example', 'Cobalt Systems', 'Head of Procurement'),
      address: '9 Hill Rd, LS1 1AA, Leeds, United Kingdom',
      phones: ['OFFICE +44 20 7946 0123', 'MOBILE +44 7700 900123'],
    },
    {
      ...attendee('Ben', 'Ito', 'ben.ito@quarry.example', 'Quarry Labs', null),
      phones: ['MOBILE +1 202-555-0147'],
    },
  ],
  'ticket-holders.csv': [
    {
      ...attendee('Ada', 'Rowe', 'ada.rowe@cobalt.example', 'Cobalt Systems', null),
      phones: ['UNKNOWN +44 7700 900123'],
    },
    {
      ...attendee('Ben', 'Ito', 'ben.ito@quarry.example', 'Quarry Labs', null),
      phones: ['UNKNOWN +1 202-555-0147'],
    },
  ],
  'ticket-orders.csv': [attendee('Ada', 'Rowe', null, 'Cobalt Systems', 'Head of Procurement')],
  'webinar-attendees.csv': [
    attendee('Ada', 'Rowe', 'ada.rowe@cobalt.example', 'Cobalt Systems', 'Head of Procurement'),
    attendee('Ben', 'Ito', 'ben.ito@quarry.example', 'Quarry Labs', null),
  ],
};
