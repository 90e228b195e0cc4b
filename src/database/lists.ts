/**
 * A list whose total and whose pages are found without counting and without skipping rows: the rows of a table, all of
 * an organization's or those with one value in a column, in an order given by a moment and an id.
 *
 * A row of the table `lists` holds the total, and the blocks of the list in order, with the number of rows before each (of
 * rows before the first block there are some, and they are "block 0"). A row of `list_blocks` holds boundaries at regular
 * places in a block, with the number of the block's rows before each.
 *
 * Triggers keep it in the transaction of every change, whoever makes it. The row of `lists` is the list's lock too: who
 * adds or removes holds it to the end of the transaction, so that rows become visible in the order of the list.
 */
export interface TrackedList {
  /** the list's name in `lists` */
  name: string;
  table: string;
  /** the column by whose value a list is one of many, with its type */
  parent?: { column: string; type: 'uuid' | 'bigint' | 'text' };
  /** the column of the moment */
  at: string;
  /** the column of the id, with its type */
  id: { column: string; type: 'uuid' | 'bigint' };
  /** whether the list is everybody's and not an organization's */
  shared?: boolean;
  /**
   * whether imports postpone the update of this list to their end (`defer_lists()`), as they do by default; false where
   * an import touches about as many lists as records
   */
  deferrable?: false;
}

const ordered = { at: 'created_at', id: { column: 'id', type: 'uuid' } } as const;

/**
 * All tracked lists, in the order in which deletes lock them: the list of their own table, then those of what goes with it.
 * (A cascade's triggers run after those of the statement.) So `delete from events`, `delete from leads`, and whoever is
 * between them.
 */
export const LISTS = {
  tagGroups: { name: 'tag_groups', table: 'tag_groups', ...ordered },
  events: { name: 'events', table: 'events', at: 'created_at', id: { column: 'id', type: 'bigint' } },
  leads: { name: 'leads', table: 'leads', ...ordered },
  activations: { name: 'activations', table: 'activations', ...ordered },
  eventLeads: {
    name: 'event_leads',
    table: 'event_leads',
    parent: { column: 'event_id', type: 'bigint' },
    at: 'associated_at',
    id: { column: 'lead_id', type: 'uuid' },
  },
  // As many as leads, each of them short, and nobody else's for as long as the lead's row is locked.
  leadActivityEventsByLead: {
    name: 'lead_activity_events_by_lead',
    table: 'lead_activity_events',
    parent: { column: 'lead_id', type: 'uuid' },
    deferrable: false,
    ...ordered,
  },
  leadActivityEventsByType: {
    name: 'lead_activity_events_by_type',
    table: 'lead_activity_events',
    parent: { column: 'event_type', type: 'text' },
    ...ordered,
  },
  leadActivityEvents: { name: 'lead_activity_events', table: 'lead_activity_events', ...ordered },
  industryEvents: { name: 'industry_events', table: 'industry_events', shared: true, ...ordered },
} satisfies Record<string, TrackedList>;

/** Where a list begins. */
export const LEAST_UUID = '00000000-0000-0000-0000-000000000000';

/** Boundaries hold every id as a uuid: of a number they are the last digits. */
export const asUuid = (id: string, type: TrackedList['id']['type']): string =>
  type === 'uuid' ? id : `lpad(to_hex(${id}), 32, '0')::uuid`;

/** The id that a boundary holds. */
export const fromUuid = (uuid: string, type: TrackedList['id']['type']): string =>
  type === 'uuid' ? uuid : `('x' || right(translate((${uuid})::text, '-', ''), 16))::bit(64)::bigint`;
