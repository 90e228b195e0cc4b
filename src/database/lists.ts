/**
 * A list of rows in order of arrival, whose total and pages are found without counting or skipping rows
 * (functions/lists.sql). It is named after its table.
 */
export interface TrackedList {
  table: string;
  /** the column by whose value a list is one of many */
  parent?: { column: string; type: 'bigint' };
  /** whether all organizations share the list */
  shared?: boolean;
}

const ofEvent = { column: 'event_id', type: 'bigint' } as const;

/** All tracked lists; lists.sql has the same, each with its triggers. */
export const LISTS = {
  tagGroups: { table: 'tag_groups' },
  events: { table: 'events' },
  eventUsers: { table: 'event_users', parent: ofEvent },
  eventLeads: { table: 'event_leads', parent: ofEvent },
  activations: { table: 'activations' },
  leads: { table: 'leads' },
  leadActivityEvents: { table: 'lead_activity_events' },
  industryEvents: { table: 'industry_events', shared: true },
} satisfies Record<string, TrackedList>;
