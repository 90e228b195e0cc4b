import { type CsvField, type RecordDraft, referenceField } from '../../exchange/csv/csv-fields';
import { CsvValueError, trimInvisible } from '../../exchange/csv/csv-values';
import type { CreateReferences } from '../../exchange/csv/lookup';
import { quoteShortened } from '../../exchange/datasets/quote';
import { uuidV7 } from '../../data/database/uuid';

/** Adds options to the tag group with a name, which is created if the organization has none. */
const createTagOptions: CreateReferences = async (manager, organizationId, groupName, missing) => {
  // Rows that are left out create none.
  const used = await manager.query<{ id: string }[]>(
    'select distinct tag_option_id as id from staged_lead_tags where tag_option_id = any($1)',
    [missing.map(({ id }) => id)],
  );
  const created = missing.filter(({ id }) => used.some((tag) => tag.id === id));
  if (created.length === 0) return;
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
    [organizationId, groupId, JSON.stringify(created)],
  );
};

const tags = referenceField('tags', 'tagOptionId', {
  sql: `select id::text as text, id::text as value, 0 as rank from tag_options where organization_id = $1
    union all select value, id::text, 1 from tag_options where organization_id = $1`,
  isExact: false,
  separator: /;|:::|,|\|/y,
  unknown: (text) =>
    `No tag option is called ${quoteShortened(text)}. Use an option's ID or the value of exactly one option, or create the missing options with --create-tags GROUP.`,
  ambiguous: (text) => `Several tag options are called ${quoteShortened(text)}. Use an option's ID.`,
  expected: `an option's ID or the value of exactly one option`,
  createMissing: createTagOptions,
});

/** Read first, because flags need an event. */
const events: CsvField = {
  ...referenceField('events', 'event', {
    sql: `select ref as text, ref as value, 0 as rank from events where organization_id = $1
    union all select id::text, ref, 1 from events where organization_id = $1
    union all select name, ref, 2 from events where organization_id = $1`,
    isExact: true,
    unknown: (text, column) => {
      const message = `No event matches ${quoteShortened(text)}. Use its ref, its ID, or a name that only one event has.`;
      return column === ''
        ? message
        : `${message} If all leads belong to one event, leave out the column and add --event.`;
    },
    ambiguous: (text) => `Several events match ${quoteShortened(text)}. Use a ref or an ID.`,
    expected: 'its ref, its ID, or a name that only one event has',
  }),
  isReadFirst: true,
};

/** The lead's participation in the events of its row, kept in the draft until the record is complete. */
interface Attendance {
  registered?: boolean;
  checkedIn?: boolean;
}

const YES = /^(?:true|yes|y|1|x|✓|✔|ja|oui|s[ií]|sì)$/i;
const NO = /^(?:false|no|n|0|-|nein|non|nee)$/i;

/** Parses a flag. The date and time since when it is true counts as true. @throws CsvValueError */
function parseFlag(text: string): boolean {
  if (NO.test(text)) return false;
  if (YES.test(text) || /\d{1,4}[-/.:]\d/.test(text)) return true;
  const expected = 'yes, no, or a date and time';
  throw new CsvValueError(`${quoteShortened(text)} is not a yes or no. Use ${expected}.`, expected);
}

/** A column that says who has come, which counts for the events of the row. */
const attendanceField = (name: keyof Attendance): CsvField => ({
  name,
  paths: [],
  entryFields: { events: [name] },
  parseInto(draft, cell, { column }) {
    const text = trimInvisible(cell);
    if (text === '') return;
    const hasEvent = Array.isArray(draft.events) && draft.events.length > 0;
    if (column !== '' && !hasEvent) {
      const message = `${quoteShortened(text)} needs an event, and this row names none. Enter one, empty this cell, or put all leads into an event with --event.`;
      throw new CsvValueError(message, 'an event in the same row', 'no event');
    }
    draft.attendance = { ...(draft.attendance as Attendance | undefined), [name]: parseFlag(text) };
  },
});

/** Copies the flags of a row to its associations. */
export function completeAttendance(draft: RecordDraft): void {
  const { attendance, events: entries } = draft;
  if (attendance === undefined) return;
  delete draft.attendance;
  if (Array.isArray(entries))
    draft.events = entries.map((entry: object) => ({ ...entry, ...(attendance as Attendance) }));
}

export const LINK_FIELDS: CsvField[] = [tags, events, attendanceField('registered'), attendanceField('checkedIn')];
