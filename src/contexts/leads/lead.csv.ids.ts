import { MAX_LENGTH } from '../../fields/fields';
import { isBlank, isUuid, isWithinLength } from '../../fields/text';
import {
  csvField,
  type CsvField,
  formatIdentifier,
  parseIdentifier,
  type RecordDraft,
} from '../../exchange/csv/csv-fields';
import type { CsvDefinition } from '../../exchange/csv/csv-section';
import { CsvValueError, identifierValue, textValue, trimInvisible } from '../../exchange/csv/csv-values';
import { uuidV5 } from '../../data/database/uuid';
import { quoteShortened } from '../../exchange/datasets/quote';
import { escapeInvisible } from '../../fields/invisible';
import { IntegrationType, type RemoteId } from './lead.response';

const idValue = csvField('id', identifierValue, undefined);

/** The ID of a lead. Only Lanyard assigns it. */
const id: CsvField = {
  ...idValue,
  isProbed: true,
  parseInto(draft, cell, context) {
    idValue.parseInto(draft, cell, context);
    if (draft.id === undefined || isUuid(draft.id)) return;
    const expected = 'a UUID, or map the column to ref if its IDs come from another program';
    throw new CsvValueError(`${quoteShortened(draft.id)} is not a Lanyard ID. Use ${expected}.`, expected, 'no ID');
  },
};

/** An arbitrary constant: the namespace of the IDs that are derived from refs. */
const REF_NAMESPACE = '0d9fd2a3-7b0a-4f4b-8f0e-6a1f1c0b5e5d';

const exportedText = (name: 'ref' | 'source'): CsvField => ({
  ...csvField(name, textValue, null),
  isPresentSql: `select from leads where organization_id = $1 and ${name} is not null`,
  // A lead keeps the ref and the source of its first import.
  mergeSql: (stored, imported, path) => (path === 'id' ? imported : `coalesce(${stored}, ${imported})`),
});

/** The source of refs. The same ref from two sources means two leads, so the source is read first. */
const source: CsvField = {
  ...exportedText('source'),
  isExactName: true,
  isReadFirst: true,
  parseInto(draft, cell) {
    draft.source = trimInvisible(cell) || null;
  },
};

/** Any text by which a file identifies a lead that has no ID. The same text of one source always means the same lead. */
const ref: CsvField = {
  ...exportedText('ref'),
  paths: ['id', 'ref', 'source'],
  parseInto(draft, cell, context) {
    const text = parseIdentifier(cell);
    if (text === '') return;
    draft.ref = text;
    draft.source ??= context.source ?? null;
    const names = draft.source === null ? [text] : [draft.source, text];
    draft.id ??= uuidV5(JSON.stringify([context.organizationId, ...names]), REF_NAMESPACE);
  },
  format: ({ ref: text }) => (typeof text === 'string' ? formatIdentifier(text) : ''),
};

/** The ID of a lead in one external system. Its IDs in other systems are kept. */
const remoteIdField = (integrationType: IntegrationType): CsvField => ({
  name: `remoteIds.${integrationType}`,
  paths: ['remoteIds'],
  mergeSql(stored, imported, _path, keepsEmpty) {
    const id = `jsonb_path_query_first(${imported}, '$[*] ? (@.integrationType == "${integrationType}").id')`;
    const merged = `set_remote_id(${stored}, jsonb_build_object('integrationType', '${integrationType}', 'id', ${id}))`;
    return keepsEmpty ? `case when ${id} is null then ${stored} else ${merged} end` : merged;
  },
  parseInto(draft, text) {
    const cell = parseIdentifier(text);
    const remoteIds = draft.remoteIds ?? [];
    // A value that is not a list is kept, so that the check of the record rejects it.
    if (!Array.isArray(remoteIds)) return;
    const others = (remoteIds as (RecordDraft | null)[]).filter((other) => other?.integrationType !== integrationType);
    if (cell === '') {
      draft.remoteIds = others;
      return;
    }
    if (!isWithinLength(cell, MAX_LENGTH.name) || isBlank(cell)) {
      const expected = `text of at most ${MAX_LENGTH.name} characters that is not blank, without NUL`;
      throw new CsvValueError(`${quoteShortened(cell)} is not a valid remote ID. Use ${expected}.`, expected);
    }
    draft.remoteIds = [...others, { id: cell, integrationType }];
  },
  format({ remoteIds }) {
    const all = (remoteIds ?? []) as RemoteId[];
    const { id: text } = all.find((remoteId) => remoteId.integrationType === integrationType) ?? {};
    return text === undefined ? '' : formatIdentifier(text);
  },
  isPresentSql: `select from leads where organization_id = $1 and remote_ids @> '[{"integrationType":"${integrationType}"}]'`,
});

export const ID_FIELDS: CsvField[] = [id, source, ref];

export const REMOTE_ID_FIELDS: CsvField[] = IntegrationType.map(remoteIdField);

/** SQL of all addresses of a lead, in lower case. */
const addresses = (lead: string): string =>
  `array(select email_addresses(
    lower(concat_ws(';', ${lead}.email, ${lead}.personal_emails, ${lead}.professional_emails))))`;

/** SQL of the parts of a name that the file provides; null if all are empty. */
function nameOf(lead: string, providesField: (path: string) => boolean): string {
  const columns: string[] = [];
  if (providesField('firstName')) columns.push(`${lead}.first_name`);
  if (providesField('lastName')) columns.push(`${lead}.last_name`);
  return columns.length > 0 ? `nullif(trim(concat_ws(' ', ${columns.join(', ')})), '')` : 'null';
}

/** A row whose ref finds a lead with another name is most likely about somebody else. */
export const LEAD_REF: CsvDefinition['ref'] = {
  field: 'ref',
  check(providesField) {
    const nameIn = (lead: string): string => nameOf(lead, providesField);
    return {
      path: 'ref',
      value: (staged) => `${staged}.ref`,
      details: (staged) => `jsonb_build_array(${nameIn('t')}, ${nameIn(staged)})`,
      findViolations: (staged) => `staged_leads ${staged} join leads t on t.organization_id = $1 and t.id = ${staged}.id
        where ${staged}.ref is not null and lower(${nameIn('t')}) <> lower(${nameIn(staged)})
          and not ${addresses('t')} && ${addresses(staged)}`,
      message: (value, details) => {
        const [known, named] = (details as string[]).map(escapeInvisible);
        return `${value} is ${known} in Lanyard, but ${named} in this file. Add --source NAME if the IDs are those of another program or list, which creates new leads, or --overwrite if this is the same person, which changes the leads.`;
      },
      expected: 'the same person, --source or --overwrite',
      kind: 'another person',
    };
  },
};
