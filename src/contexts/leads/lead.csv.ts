import type { RecordDraft } from '../../exchange/csv/csv-fields';
import type { CsvDefinition } from '../../exchange/csv/csv-section';
import { ID_FIELDS, LEAD_REF, REMOTE_ID_FIELDS } from './lead.csv.ids';
import { completeAttendance, LINK_FIELDS } from './lead.csv.links';
import { NAME_FIELDS } from './lead.csv.names';
import { PHONE_FIELDS } from './lead.csv.phones';
import { firstMatching, hasEmail, hasRemoteId } from './lead.match';

const remoteIdOf = (lead: string): string => `${lead}.remote_ids -> 0`;

/** SQL of a remote ID as it is compared. All compared ones are of one organization, whichever it is. */
const remoteIdKey = (remoteId: string): string =>
  `remote_id_key(0, ${remoteId} ->> 'integrationType', ${remoteId} ->> 'id')`;

const hasEntries = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const hasText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

const hasLetter = (value: unknown): boolean => typeof value === 'string' && /\p{L}/u.test(value);
const hasAddress = ({ email, personalEmails, professionalEmails }: RecordDraft): boolean =>
  [email, personalEmails, professionalEmails].some(hasText);

/** Whether a record tells who it is. */
function isIdentified(draft: RecordDraft): boolean {
  const { id, ref, remoteIds, firstName, lastName, company, phoneNumbers } = draft;
  const { leadProvided } = (phoneNumbers ?? {}) as RecordDraft;
  const { name } = (company ?? {}) as RecordDraft;
  if ([firstName, lastName].some(hasLetter) || hasAddress(draft)) return true;
  return [id, ref, name].some(hasText) || [leadProvided, remoteIds].some(hasEntries);
}

/** A file may have only a column of a special kind of address, or parts of a name beside `Name`. */
function refineProposal(fields: (string | null)[]): (string | null)[] {
  const has = (field: string): boolean => fields.includes(field);
  const replaced = (field: string | null, other: string | null): (string | null)[] =>
    fields.map((each, index) => (index === fields.indexOf(field) ? other : each));
  if (!has('email') && has('professionalEmails')) return refineProposal(replaced('professionalEmails', 'email'));
  if (!has('email') && has('personalEmails')) return refineProposal(replaced('personalEmails', 'email'));
  if (!has('name') || (!has('firstName') && !has('lastName'))) return fields;
  const missing = ['firstName', 'lastName'].find((field) => !has(field));
  return replaced('name', missing ?? null);
}

export const LEAD_CSV: CsvDefinition = {
  fields: [...ID_FIELDS, ...NAME_FIELDS, ...PHONE_FIELDS, ...REMOTE_ID_FIELDS, ...LINK_FIELDS],
  ref: LEAD_REF,
  complete: completeAttendance,
  isIdentified,
  usual: {
    noun: 'a name or an address',
    has: (draft) => [draft.firstName, draft.lastName].some(hasLetter) || hasAddress(draft),
  },
  prefixes: {
    other: ['order', 'buyer', 'guest', 'assistant'],
    same: ['attendee', 'invitee', 'contact', 'lead', 'ticket'],
  },
  refineProposal,
  personMatch: 'email',
  matches: {
    email: {
      fieldNames: /^email$/,
      noun: 'an e-mail address',
      hasKey: ({ email }) => hasText(email),
      key: (staged) => `lower(${staged}.email)`,
      value: (staged) => `${staged}.email`,
      findId: (staged) => firstMatching((lead) => hasEmail(lead, `${staged}.email`)),
      storedKeys: (stored) => `select lower(${stored}.email)`,
    },
    remoteId: {
      fieldNames: /^remoteIds\./,
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
