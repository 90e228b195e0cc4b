import { MAX_LENGTH } from '../api/fields';
import { isStorableText, isUuid, isWithinLength } from '../api/text';
import { addEntries, csvField, type CsvField, type RecordDraft, referenceField } from '../csv/csv-fields';
import type { CsvDefinition } from '../csv/csv-section';
import { CsvValueError, identifierValue, joinList, listValue, splitList } from '../csv/csv-values';
import { uuidV5, uuidV7 } from '../database/uuid';
import { quote, quoteShortened } from '../datasets/quote';
import { firstMatching, hasEmail, hasRemoteId } from './lead.match';
import {
  IntegrationType,
  type LeadPhoneNumbers,
  type PhoneNumber,
  PhoneNumberTypeEnum,
  type RemoteId,
} from './lead.response';

const idValue = csvField('id', identifierValue, undefined);

/** The id of a lead, which only Lanyard gives. */
const id: CsvField = {
  ...idValue,
  parseInto(draft, cell, context) {
    idValue.parseInto(draft, cell, context);
    if (draft.id === undefined || isUuid(draft.id)) return;
    const map = `--map ${quote(`${context.column}=ref`)}`;
    throw new CsvValueError(
      `${quoteShortened(draft.id)} is not a Lanyard ID. If the IDs come from another program, use ${map}.`,
      `a UUID, or ${map} if the IDs come from another program`,
    );
  },
};

/** Any constant: the namespace of the ids that are made from refs. */
const REF_NAMESPACE = '0d9fd2a3-7b0a-4f4b-8f0e-6a1f1c0b5e5d';

/** Any text by which a file identifies a lead that has no id. The same text always means the same lead. */
const ref: CsvField = {
  name: 'ref',
  paths: ['id'],
  parseInto(draft, cell, { organizationId }) {
    const text = cell.trim();
    if (text !== '') draft.id ??= uuidV5(JSON.stringify([organizationId, text]), REF_NAMESPACE);
  },
};

/** A whole name, of which the last word is the last name. */
const name: CsvField = {
  name: 'name',
  paths: ['firstName', 'lastName'],
  parseInto(draft, cell) {
    const words = cell.trim().split(/\s+/u);
    draft.lastName = words.pop() || null;
    draft.firstName = words.join(' ') || null;
  },
};

const LEAD_PROVIDED_PATH = 'phoneNumbers.leadProvided';

/** A phone number that is read as it is written, and so needs no escaping. */
const NEEDS_NO_ESCAPING = /^(?!['=\s])(?!.*E[+-]?\d+$).*\S$/is;

/**
 * The number in a cell, which a spreadsheet may have kept as text (`="0441"` or `'0441`).
 * @throws CsvValueError if a spreadsheet has turned it into a number such as 4.41E+11
 */
function parsePhoneNumber(cell: string, raw: boolean): string {
  const text = raw ? cell : (/^="(.*)"$/.exec(cell.trim())?.[1] ?? cell.replace(/^\s*'/, ''));
  if (!/^\s*[+-]?\d+([.,]\d+)?E[+-]?\d+\s*$/i.test(text)) return text.trim();
  throw new CsvValueError(
    `${quoteShortened(text)} has lost its digits in a spreadsheet. Format the column as text and enter the whole number.`,
    'the whole number, in a column that is formatted as text',
  );
}

/**
 * Keeps the stored numbers that the file has, with all that is stored of them and in their order, and appends the other
 * numbers of the file. One of these is preferred only if no number that is kept is.
 */
const mergePhoneNumbers: CsvField['mergeSql'] = (stored, imported) => {
  const isIn = (list: string, phone: string) => `exists (select from jsonb_array_elements(${list}) other
        where (other ->> 'number', other ->> 'type') = (${phone} ->> 'number', ${phone} ->> 'type'))`;
  return `(select coalesce(jsonb_agg(phone order by part, nth), '[]') from (
      select 0 as part, nth, phone from jsonb_array_elements(${stored}) with ordinality old (phone, nth)
      where ${isIn(imported, 'phone')}
      union all
      select 1, nth, case when exists (select from jsonb_array_elements(${stored}) old
          where (old ->> 'preferred')::boolean and ${isIn(imported, 'old')}) then phone || '{"preferred":false}' else phone end
      from jsonb_array_elements(${imported}) with ordinality fresh (phone, nth) where not ${isIn(stored, 'phone')}) merged)`;
};

/** The texts of a cell that holds phone numbers. */
function phoneTexts(cell: string, raw: boolean): string[] {
  // A semicolon within a formula separates nothing.
  const parts = /^\s*="/.test(cell) ? [cell] : splitList(cell);
  if (!Array.isArray(parts)) return [cell];
  const isJson = cell.startsWith('[');
  return parts.map((part) => (isJson ? String(part) : parsePhoneNumber(String(part), raw)));
}

/** The phone numbers of one type. The first number of a row is the preferred one. */
const phoneField = (name: string, type: PhoneNumberTypeEnum): CsvField => ({
  name,
  paths: [LEAD_PROVIDED_PATH],
  isList: true,
  mergeSql: mergePhoneNumbers,
  parseInto(draft, cell, { raw }) {
    const { leadProvided: before = [], ...others } = (draft.phoneNumbers ?? {}) as RecordDraft;
    // What is not a list stays, so that the check of the record rejects it.
    if (!Array.isArray(before) || cell.trim() === '') return;
    const entries = phoneTexts(cell, raw).map((number, index) => ({
      number,
      type,
      preferred: before.length + index === 0,
    }));
    const invalid = entries.find(({ number }) => !isWithinLength(number, MAX_LENGTH.name) || !isStorableText(number));
    if (invalid) {
      const expected = `numbers of at most ${MAX_LENGTH.name} characters, without NUL`;
      throw new CsvValueError(
        `${quoteShortened(invalid.number)} is not a valid phone number. Use ${expected}.`,
        expected,
      );
    }
    const keyOf = (entry: unknown) => [(entry as PhoneNumber).type, (entry as PhoneNumber).number];
    draft.phoneNumbers = { ...others, leadProvided: addEntries(before, entries, keyOf) };
  },
  format(record) {
    const { leadProvided = [] } = (record.phoneNumbers ?? {}) as Partial<LeadPhoneNumbers>;
    const numbers = leadProvided.filter((phone) => phone.type === type).map(({ number }) => number);
    return numbers.every((number) => NEEDS_NO_ESCAPING.test(number)) ? joinList(numbers) : JSON.stringify(numbers);
  },
});

const phoneFields = PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) =>
  phoneField(`phone.${type.toLowerCase()}`, type),
);

/** The id of a lead in one external system. Its ids in others stay. */
const remoteIdField = (integrationType: IntegrationType): CsvField => ({
  name: `remoteIds.${integrationType}`,
  paths: ['remoteIds'],
  mergeSql: (stored, imported) =>
    `set_remote_id(${stored}, jsonb_build_object('integrationType', '${integrationType}', 'id',
      jsonb_path_query_first(${imported}, '$[*] ? (@.integrationType == "${integrationType}").id')))`,
  parseInto(draft, cell) {
    const remoteIds = draft.remoteIds ?? [];
    // What is not a list stays, so that the check of the record rejects it.
    if (!Array.isArray(remoteIds)) return;
    const others = (remoteIds as (RecordDraft | null)[]).filter((other) => other?.integrationType !== integrationType);
    if (cell === '') {
      draft.remoteIds = others;
      return;
    }
    if (!isWithinLength(cell, MAX_LENGTH.name) || !isStorableText(cell) || !/\S/.test(cell)) {
      const expected = `text of at most ${MAX_LENGTH.name} characters that is not blank, without NUL`;
      throw new CsvValueError(`${quoteShortened(cell)} is not a valid remote ID. Use ${expected}.`, expected);
    }
    draft.remoteIds = [...others, { id: cell, integrationType }];
  },
  format({ remoteIds }) {
    const all = (remoteIds ?? []) as RemoteId[];
    return all.find((remoteId) => remoteId.integrationType === integrationType)?.id ?? '';
  },
  isPresentSql: `select from leads where organization_id = $1 and remote_ids @> '[{"integrationType":"${integrationType}"}]'`,
});

/** All that is stored of phone numbers, as JSON. */
const phoneNumbersField = (path: string): CsvField => ({
  ...csvField(
    path,
    listValue(
      (number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }),
      () => undefined,
    ),
    undefined,
  ),
  isOptional: true,
});

const tags = referenceField('tags', 'tagOptionId', {
  sql: `select id::text as text, id::text as value, 0 as rank from tag_options where organization_id = $1
    union all select value, id::text, 1 from tag_options where organization_id = $1`,
  isExact: false,
  unknownMessage: (text) =>
    `No tag option is called ${quoteShortened(text)}. Use an option's ID or the value of exactly one option.`,
  ambiguousMessage: (text) => `Several tag options are called ${quoteShortened(text)}. Use an option's ID.`,
  expected: `an option's ID or the value of exactly one option`,
});

const events = referenceField('events', 'event', {
  sql: `select ref as text, ref as value, 0 as rank from events where organization_id = $1
    union all select id::text, ref, 1 from events where organization_id = $1
    union all select name, ref, 2 from events where organization_id = $1`,
  isExact: true,
  unknownMessage: (text) =>
    `No event matches ${quoteShortened(text)}. Use its ref, its ID, or a name that only one event has.`,
  ambiguousMessage: (text) => `Several events match ${quoteShortened(text)}. Use a ref or an ID.`,
  expected: 'its ref, its ID, or a name that only one event has',
});

const remoteIdOf = (lead: string): string => `${lead}.remote_ids -> 0`;

export const LEAD_CSV: CsvDefinition = {
  generateId: uuidV7,
  optionFields: { event: 'events' },
  fields: [
    id,
    phoneNumbersField(LEAD_PROVIDED_PATH),
    phoneNumbersField('phoneNumbers.serviceProvided'),
    tags,
    events,
    ref,
    name,
    phoneField('phone', 'UNKNOWN'),
    ...phoneFields,
    ...IntegrationType.map(remoteIdField),
  ],
  matches: {
    email: {
      fieldNames: /^email$/,
      noun: 'an e-mail address',
      key: (staged) => `lower(${staged}.email)`,
      value: (staged) => `${staged}.email`,
      findId: (staged) => firstMatching((lead) => hasEmail(lead, `${staged}.email`)),
      storedKeys: (stored) => `select lower(${stored}.email)`,
    },
    remoteId: {
      fieldNames: /^remoteIds\./,
      noun: 'a remote ID',
      key: (staged) => `${remoteIdOf(staged)} ->> 'id'`,
      value: (staged) => `${remoteIdOf(staged)} ->> 'id'`,
      findId: (staged) => {
        const remoteId = remoteIdOf(staged);
        return firstMatching((lead) => hasRemoteId(lead, `${remoteId} ->> 'integrationType'`, `${remoteId} ->> 'id'`));
      },
      storedKeys: (stored) => `select value ->> 'id' from jsonb_array_elements(${stored}.remote_ids)`,
    },
  },
};
