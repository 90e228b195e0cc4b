import { MigrationInterface, QueryRunner } from 'typeorm';
import { keptFromTruncate, renewLists, trackedLists } from '../list-triggers';

const SEARCH = 'search_industry_events(text, integer, bigint, text)';
const BY_TRANSACTION = "xmin || '' '' || ctid";
const BY_VERSION = 'version::text';

/** The tables beside those of lists whose rows documents and words are made from, or are. */
const OTHERS = ['lead_tags', 'lead_activations', 'tag_options', 'industry_event_words'];

/** What reading and a copy of the database with another history still found to stay behind the data. */
export class NothingLeftBehind1768435200000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    const lists = await trackedLists(db);
    // Before `lists`, as who writes does, and all at once: else readers would wait for `lists` while it waits for writers.
    const tables = new Set([...lists.map(({ table }) => table), ...OTHERS]);
    await db.query(`lock table ${[...tables].join(', ')} in share row exclusive mode`);
    await db.query(renewLists(lists));
    await db.query(`
      update lists set version = gen_random_uuid() where name = 'industry_events';
      ${OTHERS.map(keptFromTruncate).join('')}
      -- Numbers of transactions and places of rows come again where a primary is lost or an earlier moment restored.
      ${searchWith(BY_TRANSACTION, BY_VERSION)}
      ${rendersOnUpdate('organization_id, ')}
      -- Not in the cascade of an organization, whose leads go too: rendered twice, they would be held against it.
      create or replace trigger events_leave_leads before delete on events
        for each row when (pg_trigger_depth() = 0) execute function leave_leads();
    `);
  }

  /** The functions of lists, and what keeps tables from being truncated, stay: those before can be used with them. */
  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      ${searchWith(BY_VERSION, BY_TRANSACTION)}
      ${rendersOnUpdate('')}
      create or replace trigger events_leave_leads before delete on events for each row execute function leave_leads();
    `);
  }
}

/** The search as it is, but for what it takes for the version of the catalogue. */
const searchWith = (before: string, after: string): string => `
  do $do$ begin
    execute replace(pg_get_functiondef('${SEARCH}'::regprocedure), '${before}', '${after}');
  end $do$;`;

const PARTS = {
  lead_tags: 'lead_id, tag_option_id, position',
  lead_activations: 'lead_id, activation_id, position, registered, checked_in',
  lead_activity_events: 'lead_id, id, created_at',
};

/** @param more columns that are compared, too */
const rendersOnUpdate = (more: string): string =>
  Object.entries(PARTS)
    .map(([table, columns]) => {
      const of = (row: string): string => (more + columns).replace(/\w+/g, `${row}.$&`);
      return `
        create or replace trigger ${table}_rendered_updated after update on ${table}
          for each row when ((${of('old')}) is distinct from (${of('new')})) execute function render_leads_of_row();`;
    })
    .join('');
