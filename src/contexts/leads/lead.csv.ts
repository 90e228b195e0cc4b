import type { RecordDraft } from '../../exchange/csv/csv-fields';
import type { CsvDefinition, ProposedColumn } from '../../exchange/csv/csv-section';
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
const hasLetterOrDigit = (value: unknown): boolean => typeof value === 'string' && /[\p{L}\p{N}]/u.test(value);
const hasAddress = ({ email, personalEmails, professionalEmails }: RecordDraft): boolean =>
  [email, personalEmails, professionalEmails].some(hasText);

/** Whether a record tells who it is. */
function isIdentified(draft: RecordDraft): boolean {
  const { id, ref, remoteIds, firstName, lastName, company, phoneNumbers } = draft;
  const { leadProvided } = (phoneNumbers ?? {}) as RecordDraft;
  const { name } = (company ?? {}) as RecordDraft;
  if ([firstName, lastName].some(hasLetter) || hasAddress(draft)) return true;
  return [id, ref, name].some(hasLetterOrDigit) || [leadProvided, remoteIds].some(hasEntries);
}

/** A file may have only a column of a special kind of address, or parts of a name beside the whole one. */
function refineProposal(columns: ProposedColumn[]): (string | null)[] {
  const fields = columns.map(({ field }) => field);
  const filled = (field: string): number => columns[fields.indexOf(field)]?.filled ?? 0;
  const replace = (field: string, other: string | null): void => {
    if (fields.includes(field)) fields[fields.indexOf(field)] = other;
  };
  for (const other of ['professionalEmails', 'personalEmails']) if (!fields.includes('email')) replace(other, 'email');
  const parts = ['firstName', 'lastName'].filter((part) => fields.includes(part));
  if (!fields.includes('name') || parts.length === 0) return fields;
  if (parts.length === 1) replace('name', parts[0] === 'firstName' ? 'lastName' : 'firstName');
  const isWholeName = filled('name') > Math.max(...parts.map(filled));
  const left = isWholeName ? parts : ['name'];
  return fields.map((field) => (left.includes(field ?? '') ? null : field));
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
