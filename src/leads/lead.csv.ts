import { MAX_LENGTH } from '../api/fields';
import { isWithinLength, isStorableText } from '../api/text';
import { uuidV5, uuidV7 } from '../database/uuid';
import { addEntries, CellFault, cellOf, type Draft, field, type Field, links, list, partsOf } from '../csv/csv-values';
import type { CsvDataset } from '../datasets/dataset';
import {
  IntegrationType,
  type LeadPhoneNumbers,
  type PhoneNumber,
  PhoneNumberTypeEnum,
  type RemoteId,
} from './lead.response';

/** Any constant: ids that are made from what another system calls a lead. */
const NAMESPACE = '0d9fd2a3-7b0a-4f4b-8f0e-6a1f1c0b5e5d';

/** Where there is no id: any text by which the file names the lead. The same text is the same lead, whenever it comes. */
const ref: Field = {
  name: 'ref',
  changes: ['id'],
  put: (draft, cell, { organizationId }) => {
    const text = cell.trim();
    if (text !== '') draft.id ??= uuidV5(JSON.stringify([organizationId, text]), NAMESPACE);
  },
};

/** Both names in one: the last word is the last name. */
const name: Field = {
  name: 'name',
  changes: ['firstName', 'lastName'],
  put: (draft, cell) => {
    const words = cell.trim().split(/\s+/u);
    draft.lastName = words.pop() || null;
    draft.firstName = words.join(' ') || null;
  },
};

/** The number of a cell: a spreadsheet may have kept it as text (`="0441"`, `'0441`) or lost its digits. */
function numberOf(cell: string, raw: boolean): string {
  const text = raw ? cell : (/^="(.*)"$/.exec(cell.trim())?.[1] ?? cell.replace(/^\s*'/, ''));
  if (/^\s*[+-]?\d+([.,]\d+)?E[+-]?\d+\s*$/i.test(text)) {
    throw new CellFault('has lost its digits in a spreadsheet', 'the whole number, in a column of texts');
  }
  return text.trim();
}

/** A number that is read as it is written. */
const PLAIN = /^(?!['=\s])(?!.*E[+-]?\d+$).*\S$/is;

const PROVIDED = 'phoneNumbers.leadProvided';
const isOfType =
  (type: PhoneNumberTypeEnum) =>
  (phone: PhoneNumber): boolean =>
    phone.type === type;

/** Of the stored numbers those that the file has, in their order, and then the others of the file. */
const mergePhones: Field['merge'] = (stored, given) => {
  const isIn = (list: string, of: string) => `exists (select from jsonb_array_elements(${list}) other
        where (other ->> 'number', other ->> 'type') = (${of} ->> 'number', ${of} ->> 'type'))`;
  return `(select coalesce(jsonb_agg(phone order by part, nth), '[]') from (
      select 0 as part, nth, phone from jsonb_array_elements(${stored}) with ordinality old (phone, nth)
      where ${isIn(given, 'phone')}
      union all
      select 1, nth, case when exists (select from jsonb_array_elements(${stored}) old
          where (old ->> 'preferred')::boolean and ${isIn(given, 'old')}) then phone || '{"preferred":false}' else phone end
      from jsonb_array_elements(${given}) with ordinality fresh (phone, nth) where not ${isIn(stored, 'phone')}) merged)`;
};

/** Numbers of one type; the first of a row is the preferred one. What is no list already stays, and is at fault. */
const phone = (name: string, type: PhoneNumberTypeEnum): Field => ({
  ...{ name, changes: [PROVIDED], isList: true, merge: mergePhones },
  put: (draft, cell, { raw }) => {
    const { leadProvided: before = [], ...more } = (draft.phoneNumbers ?? {}) as Draft;
    const isLiteral = cell.startsWith('[');
    const numbers = /^\s*="/.test(cell) ? [cell] : partsOf(cell);
    if (!Array.isArray(before) || cell.trim() === '') return;
    const added = Array.isArray(numbers)
      ? numbers.map((number) => (isLiteral ? String(number) : numberOf(String(number), raw)))
      : [cell];
    const entries = added.map((number, nth) => ({ number, type, preferred: before.length + nth === 0 }));
    if (entries.some(({ number }) => !isWithinLength(number, MAX_LENGTH.name) || !isStorableText(number))) {
      throw new CellFault('is no such text', `numbers of at most ${MAX_LENGTH.name} characters, without NUL`);
    }
    const key = (entry: unknown) => [(entry as PhoneNumber).type, (entry as PhoneNumber).number];
    draft.phoneNumbers = { ...more, leadProvided: addEntries(before, entries, key) };
  },
  take: (record) => {
    const { leadProvided = [] } = (record.phoneNumbers ?? {}) as Partial<LeadPhoneNumbers>;
    const numbers = leadProvided.filter(isOfType(type)).map(({ number }) => number);
    return numbers.every((number) => PLAIN.test(number)) ? cellOf(numbers) : JSON.stringify(numbers);
  },
});

const phones = [
  phone('phone', 'UNKNOWN'),
  ...PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) => phone(`phone.${type.toLowerCase()}`, type)),
];

/** The id of one other system; those of others stay. */
const remoteId = (integrationType: IntegrationType): Field => ({
  name: `remoteIds.${integrationType}`,
  changes: ['remoteIds'],
  merge: (stored, given) =>
    `set_remote_id(${stored}, jsonb_build_object('integrationType', '${integrationType}', 'id',
      jsonb_path_query_first(${given}, '$[*] ? (@.integrationType == "${integrationType}").id')))`,
  put: (draft, id) => {
    const all = draft.remoteIds ?? [];
    if (!Array.isArray(all)) return;
    if (id !== '' && !(isWithinLength(id, MAX_LENGTH.name) && isStorableText(id) && /\S/.test(id))) {
      throw new CellFault('is no such text', `text of at most ${MAX_LENGTH.name} characters, not blank, without NUL`);
    }
    const others = all.filter((other: Draft | null) => other?.integrationType !== integrationType) as unknown[];
    draft.remoteIds = id === '' ? others : [...others, { id, integrationType }];
  },
  take: ({ remoteIds }) =>
    ((remoteIds ?? []) as RemoteId[]).find((each) => each.integrationType === integrationType)?.id ?? '',
  occurs: `select from leads where organization_id = $1 and remote_ids @> '[{"integrationType":"${integrationType}"}]'`,
});

const numbers = list((number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }));

const tags = links('tags', 'tagOptionId', {
  noun: 'tag option of the organization',
  wanted: 'its id, or a value that one option has',
  sql: `select id::text as text, id::text as value, 0 as rank from tag_options where organization_id = $1
    union all select value, id::text, 1 from tag_options where organization_id = $1`,
  isExact: false,
});

const events = links('events', 'event', {
  noun: 'event of the organization',
  wanted: 'its ref, its id, or a name that one event has',
  sql: `select ref as text, ref as value, 0 as rank from events where organization_id = $1
    union all select id::text, ref, 1 from events where organization_id = $1
    union all select name, ref, 2 from events where organization_id = $1`,
  isExact: true,
});

/** The names of columns of HubSpot, Salesforce, Marketo, Zoho, Pipedrive, Cvent, Eventbrite, pretix, LinkedIn and scanners. */
const ALIASES: Record<string, string[]> = {
  id: ['Lead ID', 'Lanyard ID'],
  ref: ['Record ID', 'Contact ID', 'Person ID', 'Person - ID', 'Attendee ID', 'Badge ID'],
  createdAt: [
    ...['Created', 'Create Date', 'Created Date', 'Created On', 'Created Time', 'Date Created', 'Creation Date'],
    ...['Lead created', 'Person - Created', 'Registration Date', 'Date Registered', 'Order Date', 'Scan Date'],
    ...['Scanned At', 'Scan Time', 'Date Scanned', 'Captured At', 'Capture Date', 'Timestamp', 'Date'],
  ],
  createdBy: ['Created By Email', 'Creator'],
  firstName: [
    'Given Name',
    'Forename',
    'First',
    'Attendee First Name',
    'Person - First name',
    'Attendee given name',
    'Attendee name: Given name',
  ],
  lastName: [
    'Family Name',
    'Surname',
    'Last',
    'Attendee Last Name',
    'Attendee Surname',
    'Person - Last name',
    'Attendee name: Family name',
  ],
  name: [
    ...[
      'Full Name',
      'Contact Name',
      'Lead Name',
      'Attendee Name',
      'Attendee',
      'Person',
      'Person - Name',
      'Person Name',
    ],
  ],
  email: [
    ...['Email Address', 'E-mail Address', 'Mail', 'Email 1', 'Primary Email', 'Contact Email', 'Attendee Email'],
    ...['Attendee E-mail', 'Lead Email', 'Person - Email', 'Person - Email - Work', 'Email - Work'],
  ],
  personalEmails: ['Personal Email', 'Home Email', 'Person - Email - Home', 'Email - Home', 'Private Email'],
  professionalEmails: ['Work Email', 'Business Email', 'Company Email', 'Professional Email', 'Secondary Email'],
  description: ['Notes', 'Note', 'Comment', 'Comments', 'Remarks', 'Message', 'Lead Notes'],
  linkedin: [
    'LinkedIn URL',
    'LinkedIn Profile',
    'LinkedIn Bio',
    'Profile URL',
    'Person Linkedin Url',
    'URL',
    'LinkedIn',
  ],
  facebook: ['Facebook URL', 'Facebook Profile'],
  twitter: ['Twitter Username', 'Twitter Handle', 'Twitter Profile', 'X'],
  jobTitle: [
    'Title',
    'Position',
    'Role',
    'Job',
    'Job Position',
    'Person - Job title',
    'Attendee Job Title',
    'Function',
  ],
  address: ['Mailing Address', 'Home Address', 'Postal Address', 'Full Address', 'Person - Postal address'],
  numberOfScans: ['Scans', 'Scan Count'],
  lastScannedBy: ['Scanned By', 'Scanned By Email'],
  'company.name': [
    ...[
      'Account Name',
      'Account',
      'Organization',
      'Organisation',
      'Organization Name',
      'Organisation Name',
      'Employer',
    ],
    ...[
      'Associated Company',
      'Person - Organization',
      'Attendee Company',
      'Firm',
      'Company / Account',
      'Organization - Name',
    ],
  ],
  'company.industry': ['Industry', 'Sector', 'Company Sector'],
  'company.linkedin': ['Company LinkedIn Company Page', 'LinkedIn Company Page', 'Company LinkedIn URL'],
  'company.streetAddress': [
    'Street',
    'Street Address',
    'Mailing Street',
    'Work Address 1',
    'Address 1',
    'Address Line 1',
    'Company Address',
  ],
  'company.city': ['City', 'Town', 'Mailing City', 'Billing City', 'Work City'],
  'company.state': [
    ...['State', 'Region', 'Province', 'State/Province', 'State/Region', 'Mailing State', 'Mailing State/Province'],
    ...['Company State/Region', 'Work State/Province', 'Work State'],
  ],
  'company.zip': [
    ...['Zip', 'Zip Code', 'Postal Code', 'Postcode', 'Zip/Postal Code', 'Mailing Zip', 'Mailing Zip/Postal Code'],
    ...['Mailing Postal Code', 'Company Postal Code', 'Work ZIP/Postal Code', 'Work Zip'],
  ],
  'company.country': [
    'Country',
    'Country/Region',
    'Mailing Country',
    'Billing Country',
    'Company Country/Region',
    'Work Country',
  ],
  phone: [
    ...['Phone Number', 'Telephone', 'Telephone Number', 'Tel', 'Primary Phone', 'Contact Phone', 'Attendee Phone'],
    ...['Person - Phone', 'Phone 1', 'Phone 2'],
  ],
  'phone.mobile': [
    ...['Mobile', 'Mobile Phone', 'Mobile Phone Number', 'Mobile Number', 'Cell', 'Cell Phone', 'Cellphone'],
    ...['Person - Phone - Mobile', 'Phone - Mobile'],
  ],
  'phone.landline': ['Home Phone', 'Landline', 'Person - Phone - Home', 'Phone - Home'],
  'phone.direct': ['Direct Phone', 'Direct Dial', 'Direct Line'],
  'phone.office': [
    ...['Work Phone', 'Business Phone', 'Office Phone', 'Person - Phone - Work', 'Phone - Work', 'Office'],
  ],
  'phone.hq': ['Company Phone', 'HQ Phone', 'Main Phone', 'Corporate Phone'],
  tags: ['Tag', 'Labels', 'Label', 'Lead Tags', 'Person - Labels'],
  events: ['Event', 'Event Name'],
};

const FIELDS: Field[] = [
  { ...field(PROVIDED, numbers, undefined), isOptional: true },
  { ...field('phoneNumbers.serviceProvided', numbers, undefined), isOptional: true },
  ...[tags, events, ref, name, ...phones, ...IntegrationType.map(remoteId)],
];

/** The first lead of a condition, found by the index of its key: the offset keeps PostgreSQL from reading the list in its order. */
const first = (condition: string): string =>
  `select id from (select t.id, t.position from leads t where (t.organization_id = $1) is true and ${condition} offset 0) t
    order by position limit 1`;

const REMOTE_ID = 's.remote_ids -> 0';

export const LEAD_CSV: CsvDataset = {
  newId: uuidV7,
  events: 'events',
  fields: FIELDS,
  aliases: ALIASES,
  matches: {
    email: {
      fields: /^email$/,
      key: 'lower(s.email)',
      shown: 's.email',
      find: first(`t.email is not null and email_key(t.organization_id, t.email) = email_key($1, s.email)`),
    },
    remoteId: {
      fields: /^remoteIds\./,
      key: `${REMOTE_ID} ->> 'id'`,
      shown: `${REMOTE_ID} ->> 'id'`,
      find: first(`t.remote_ids <> '[]' and remote_id_keys(t.organization_id, t.remote_ids)
        @> array[remote_id_key($1, ${REMOTE_ID} ->> 'integrationType', ${REMOTE_ID} ->> 'id')]`),
    },
  },
};
