import type { RecordDraft } from '../../exchange/csv/csv-fields';
import type { CsvDefinition } from '../../exchange/csv/csv-section';
import { EMAIL_FIELDS } from './lead.csv.emails';
import { ID_FIELDS, LEAD_IDENTIFIERS, REMOTE_ID_FIELDS } from './lead.csv.ids';
import { completeAttendance, LINK_FIELDS } from './lead.csv.links';
import { HOME_PARTS, NAME_FIELDS } from './lead.csv.names';
import { PHONE_FIELDS } from './lead.csv.phones';
import { firstMatching, hasEmail, hasRemoteId } from './lead.match';

const remoteIdOf = (lead: string): string => `${lead}.remote_ids -> 0`;

/** SQL of a remote ID as it is compared. All compared ones are of one organization, whichever it is. */
const remoteIdKey = (remoteId: string): string =>
  `remote_id_key(0, ${remoteId} ->> 'integrationType', ${remoteId} ->> 'id')`;

const hasEntries = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const hasText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** Whether a lead has something to recognize or reach the person by. */
function isUsable({ firstName, lastName, email, address, company, phoneNumbers }: RecordDraft): boolean {
  const { leadProvided } = (phoneNumbers ?? {}) as RecordDraft;
  const { name } = (company ?? {}) as RecordDraft;
  return [firstName, lastName, email, address, name].some(hasText) || hasEntries(leadProvided);
}

const EMAIL_KINDS = { home: 'email.home', work: 'email.work' };

export const LEAD_CSV: CsvDefinition = {
  fields: [...ID_FIELDS, ...NAME_FIELDS, ...EMAIL_FIELDS, ...PHONE_FIELDS, ...REMOTE_ID_FIELDS, ...LINK_FIELDS],
  identifiers: LEAD_IDENTIFIERS,
  userFields: ['createdBy', 'lastScannedBy'],
  person: {
    kindFields: {
      phone: { mobile: 'phone.mobile', home: 'phone.landline', work: 'phone.office' },
      email: EMAIL_KINDS,
      'email.other': EMAIL_KINDS,
      address: { home: 'address', work: 'company.streetAddress' },
      ...Object.fromEntries(
        HOME_PARTS.map((part) => [`company.${part}`, { home: `home.${part}`, work: `company.${part}` }]),
      ),
    },
    titleField: 'jobTitle',
    prefixedFields: /^(?:firstName|lastName|name|jobTitle|email|phone|address|company\.|home\.)/,
    attendeeFields: /^(?:firstName|lastName|name|email\.attendee)$/,
  },
  complete: completeAttendance,
  usable: {
    fieldNames: /^(?:firstName|lastName|name|email|address|company\.name|phone)/,
    numberFields: /^phone/,
    nameFields: /^(?:firstName|lastName|name)$/,
    stateFields: /^(?:attendeeStatus|registered|checkedIn|createdAt|updatedAt|isEnriched)$/,
    isUsable,
  },
  personMatch: 'email',
  matches: {
    email: {
      fieldNames: /^email(?:$|\.)/,
      noun: 'an e-mail address',
      hasKey: ({ email }) => hasText(email),
      key: (staged) => `lower(${staged}.email)`,
      value: (staged) => `${staged}.email`,
      findId: (staged) => firstMatching((lead) => hasEmail(lead, `${staged}.email`)),
      storedKeys: (stored) => `select lower(${stored}.email)`,
    },
    remoteId: {
      fieldNames: /^remoteIds\./,
      isOfOneField: true,
      noun: 'a remote ID',
      hasKey: ({ remoteIds }) => hasEntries(remoteIds),
      key: (staged) => remoteIdKey(`(${remoteIdOf(staged)})`),
      value: (staged) => `${remoteIdOf(staged)} ->> 'id'`,
      findId: (staged) => {
        const remoteId = remoteIdOf(staged);
        return firstMatching((lead) => hasRemoteId(lead, `${remoteId} ->> 'integrationType'`, `${remoteId} ->> 'id'`));
      },
      storedKeys: (stored) => `select ${remoteIdKey('value')} from jsonb_array_elements(${stored}.remote_ids)`,
    },
  },
};
