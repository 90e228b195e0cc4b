import { type CsvField, type RecordDraft, referenceField, skipOption } from '../../exchange/csv/csv-fields';
import { CsvValueError } from '../../exchange/csv/csv-values';
import type { CreateReferences } from '../../exchange/csv/lookup';
import { isOutState } from '../../exchange/csv/row-states';
import { quote, quoteShortened } from '../../exchange/datasets/quote';
import { uuidV7 } from '../../data/database/uuid';

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

/** Read first, because flags need an event. */
const events: CsvField = {
  ...referenceField('events', 'event', {
    sql: `select ref as text, ref as value, 0 as rank from events where organization_id = $1
    union all select id::text, ref, 1 from events where organization_id = $1
    union all select name, ref, 2 from events where organization_id = $1`,
    isExact: true,
    unknown: (text, column, hasField) => {
      const message = `No event matches ${quoteShortened(text)}. Use its ref, its ID, or a name that only one event has.`;
      if (column === '') return { message };
      const skip = skipOption(column);
      const advice = `${message} If all leads belong to one event, name it with ${skip} --event EVENT.`;
      // Without the column, nothing would say where somebody has come.
      return ATTENDANCE_FIELDS.some(({ name }) => hasField(name))
        ? { message: advice }
        : { message: `${advice} To import the leads without their events, skip the column with ${skip}.`, fix: skip };
    },
    ambiguous: (text) => ({ message: `Several events match ${quoteShortened(text)}. Use a ref or an ID.` }),
    expected: 'its ref, its ID, or a name that only one event has',
  }),
  isReadFirst: true,
};

/** The lead's participation in the events of its row, kept in the draft until the record is complete. */
interface Attendance {
  registered?: boolean;
  checkedIn?: boolean;
}

const YES = /^(?:true|yes|y|1|x|✓|✔|ja|oui|s[ií]|sì|on)$/i;
const NO = /^(?:(?:false|no|n|0|-|nein|non|nee|off)$|(?:not|un)\b|no[- ]?show|pending|cancel)/i;
const PRESENT = /^(?:checked.?in|attended|present|arrived|eingecheckt|anwesend)/i;
const REGISTERED = /^(?:registered|confirmed|angemeldet|inscrit)/i;

/** Parses a flag. The date and time since when it is true counts as true. @throws CsvValueError */
function parseFlag(text: string, words: RegExp): boolean {
  if (NO.test(text)) return false;
  if (YES.test(text) || words.test(text) || /\d{1,4}[-/.:]\d/.test(text)) return true;
  const expected = 'yes, no, or a date and time';
  throw new CsvValueError(`${quoteShortened(text)} is not a yes or no. Use ${expected}.`, expected);
}

/** Parses the status of an attendee, such as `Attending` or `Checked In`. Programs use many values, so none is an error. */
function parseStatus(text: string): Attendance {
  if (PRESENT.test(text)) return { registered: true, checkedIn: true };
  // Whoever has not checked in is registered nevertheless.
  const isOut = /^(?:not (?!checked|arrived|attended|present)|un)/i.test(text) || isOutState(text);
  return { registered: !isOut };
}

/** A column that says who has come, which counts for the events of the row. */
const attendanceField = (name: string, flags: (keyof Attendance)[], parse: (text: string) => Attendance): CsvField => ({
  name,
  paths: [],
  entryFields: { events: flags },
  isList: true,
  parseInto(draft, cell, { column, hasField }) {
    const text = cell.trim();
    if (text === '') return;
    const attendance = parse(text);
    // An option sets the flag for the events of each lead, if it has any.
    const needsEvent = column !== '' && hasField('events');
    const hasEvent = [draft.events ?? []].flat().length > 0;
    if (needsEvent && !hasEvent && Object.values(attendance).includes(true)) {
      const message = `${quoteShortened(cell)} needs an event, and this row names none that is known. Enter one, empty this cell, or put all leads into an event with --event.`;
      throw new CsvValueError(message, 'an event in the same row', undefined, 'no event');
    }
    draft.attendance = { ...(draft.attendance as Attendance | undefined), ...attendance };
  },
});

const ATTENDANCE_FIELDS = [
  attendanceField('attendeeStatus', ['registered', 'checkedIn'], parseStatus),
  attendanceField('registered', ['registered'], (text) => ({ registered: parseFlag(text, REGISTERED) })),
  attendanceField('checkedIn', ['checkedIn'], (text) => ({ checkedIn: parseFlag(text, PRESENT) })),
];

/** Copies the flags of a row to its associations. */
export function completeAttendance(draft: RecordDraft): void {
  const { attendance, events: entries } = draft;
  if (attendance === undefined) return;
  delete draft.attendance;
  if (Array.isArray(entries))
    draft.events = entries.map((entry: object) => ({ ...entry, ...(attendance as Attendance) }));
}

export const LINK_FIELDS: CsvField[] = [tags, events, ...ATTENDANCE_FIELDS];
