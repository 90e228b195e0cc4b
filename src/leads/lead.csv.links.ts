import { outStates } from './column-words.json';
import { type CsvField, type RecordDraft, referenceField, skipOption } from '../csv/csv-fields';
import { CsvValueError } from '../csv/csv-values';
import type { CreateReferences } from '../csv/lookup';
import { hasOutState } from '../csv/row-states';
import { quote, quoteShortened } from '../datasets/quote';
import { uuidV7 } from '../database/uuid';

/** Adds options to the tag group with a name, which is created if the organization has none. */
const createTagOptions: CreateReferences = async (manager, organizationId, groupName, missing) => {
  const [known] = await manager.query<{ id: string }[]>(
    'select id from tag_groups where organization_id = $1 and name = $2 order by position limit 1 for update',
    [organizationId, groupName],
  );
  const groupId = known?.id ?? uuidV7();
  if (!known) {
    await manager.query(
      `insert into tag_groups (organization_id, position, id, name, status, allows_multiple_selection, display_order,
          required, all_events)
        select $1, list_take($1, 'tag_groups', 1), $2, $3, 'PUBLISHED', true,
          (select coalesce(max(display_order) + 1, 0) from tag_groups where organization_id = $1), false, true`,
      [organizationId, groupId, groupName],
    );
  }
  await manager.query(
    `insert into tag_options (organization_id, tag_group_id, id, value, display_order)
      select $1, $2, m.id, m.text, n - 1 +
        (select coalesce(max(display_order) + 1, 0) from tag_options where organization_id = $1 and tag_group_id = $2)
      from rows from (jsonb_to_recordset($3::jsonb) as (id uuid, text text)) with ordinality m (id, text, n)`,
    [organizationId, groupId, JSON.stringify(missing)],
  );
};

const tags = referenceField('tags', 'tagOptionId', {
  sql: `select id::text as text, id::text as value, 0 as rank from tag_options where organization_id = $1
    union all select value, id::text, 1 from tag_options where organization_id = $1`,
  isExact: false,
  separator: /;|:::|,|\|/y,
  unknown: (text, column) => {
    const create = `--create-tags ${quote(column || 'Tags')}`;
    const message = `No tag option is called ${quoteShortened(text)}. Use an option's ID or the value of exactly one option, or create the missing options with ${create}.`;
    return { message, fix: create };
  },
  ambiguous: (text) => ({
    message: `Several tag options are called ${quoteShortened(text)}. Use an option's ID.`,
  }),
  expected: `an option's ID or the value of exactly one option`,
  createMissing: createTagOptions,
});

const events = referenceField('events', 'event', {
  sql: `select ref as text, ref as value, 0 as rank from events where organization_id = $1
    union all select id::text, ref, 1 from events where organization_id = $1
    union all select name, ref, 2 from events where organization_id = $1`,
  isExact: true,
  unknown: (text, column) => {
    const message = `No event matches ${quoteShortened(text)}. Use its ref, its ID, or a name that only one event has.`;
    return column === ''
      ? { message }
      : { message: `${message} Skip the column with ${skipOption(column)}.`, fix: skipOption(column) };
  },
  ambiguous: (text) => ({ message: `Several events match ${quoteShortened(text)}. Use a ref or an ID.` }),
  expected: 'its ref, its ID, or a name that only one event has',
});

/** The lead's participation in the events of its row, kept in the draft until the record is complete. */
interface Attendance {
  registered?: boolean;
  checkedIn?: boolean;
}

const YES = /^(?:true|yes|y|1|x|✓|✔|ja|oui|s[ií]|sì|on)$/i;
const NO = /^(?:false|no|n|0|-|nein|non|nee|off)$/i;

const attend = (draft: RecordDraft, attendance: Attendance): void => {
  draft.attendance = { ...(draft.attendance as Attendance | undefined), ...attendance };
};

/** Parses a flag. The date and time since when it is true counts as true. */
function parseFlag(cell: string, words: RegExp): boolean | undefined {
  const text = cell.trim();
  if (text === '') return undefined;
  if (NO.test(text) || /^(?:not|un)\b|^no[- ]?show|^pending|^cancel/i.test(text)) return false;
  if (YES.test(text) || words.test(text) || /\d{1,4}[-/.:]\d/.test(text)) return true;
  const expected = 'yes, no, or a date and time';
  throw new CsvValueError(`${quoteShortened(cell)} is not a yes or no. Use ${expected}.`, expected);
}

const flagField = (name: 'registered' | 'checkedIn', words: RegExp): CsvField => ({
  name,
  paths: [],
  entryFields: { events: [name] },
  isList: true,
  parseInto(draft, cell) {
    const flag = parseFlag(cell, words);
    if (flag !== undefined) attend(draft, { [name]: flag });
  },
});

/** The status of an attendee, such as `Attending` or `Checked In`. Programs use many values, so none is an error. */
const attendeeStatus: CsvField = {
  name: 'attendeeStatus',
  paths: [],
  entryFields: { events: ['registered', 'checkedIn'] },
  isList: true,
  parseInto(draft, cell) {
    const text = cell.trim();
    if (text === '') return;
    const isCheckedIn = /^(?:checked.?in|attended|present|arrived|eingecheckt|anwesend)/i.test(text);
    // Whoever has not checked in is registered nevertheless.
    const isOut = /^(?:not (?!checked|arrived|attended|present)|un)/i.test(text) || hasOutState(text, outStates);
    attend(draft, isCheckedIn ? { registered: true, checkedIn: true } : { registered: !isOut });
  },
};

/** Copies the flags of a row to its associations. */
export function completeAttendance(draft: RecordDraft): void {
  const { attendance, ...record } = draft;
  if (attendance === undefined) return;
  delete draft.attendance;
  if (!Array.isArray(record.events)) return;
  draft.events = (record.events as object[]).map((entry) => ({ ...entry, ...(attendance as Attendance) }));
}

export const LINK_FIELDS: CsvField[] = [
  tags,
  events,
  attendeeStatus,
  flagField('registered', /^(?:registered|confirmed|angemeldet|inscrit)/i),
  flagField('checkedIn', /^(?:checked.?in|attended|present|arrived|eingecheckt|anwesend)/i),
];
