import { MigrationInterface, QueryRunner } from 'typeorm';
import { LIST_BLOCKS, renewLists, trackedLists } from '../list-triggers';

/** The boundaries of a list stand in blocks: they were arrays as long as the list, which each change wrote anew. */
export class ListsInBlocks1768089600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    const lists = await trackedLists(db);
    const tables = new Set(lists.map(({ table }) => table));
    // Before `lists`, as who writes does: an import that is under way would end in a deadlock.
    await db.query(`lock table ${[...tables].join(', ')} in share row exclusive mode`);
    await db.query(`
      alter table lists
        add if not exists id bigint generated always as identity constraint lists_id_key unique,
        add if not exists blocks integer[] not null default '{}',
        drop if exists moments,
        drop if exists ids;
      alter table lists alter blocks set storage external;
      ${LIST_BLOCKS}
      drop function if exists defer_list(text, integer, text, bigint, timestamptz, boolean), list_span(bigint),
        every_second(anyarray);
      do $do$ begin
        execute replace(pg_get_functiondef('index_industry_event()'::regprocedure),
          'and not defer_list(''industry_events'', 0, '''', 0, ''infinity'', false)', '');
      end $do$;
    `);
    for (const { name } of lists) {
      await db.query(`drop function if exists shift_${name}_list(integer, text, integer, list_place)`);
    }
    await db.query(renewLists(lists));
    for (const { name } of lists) {
      await db.query(`select rebuild_${name}_list(organization_id, parent) from lists
        where name = '${name}' and ranks <> '{}' and blocks = '{}'`);
    }
  }

  /** What is here stays: those before made the same. */
  async down(): Promise<void> {}
}
