import { MigrationInterface, QueryRunner } from 'typeorm';

/** What two transactions at once could still do to each other, found by reading; each has a test that shows it. */
export class LocksInOneOrder1767657600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(placeAtEnd("if tg_table_name = 'industry_events' then new.updated_at := new.created_at; end if;"));
    await db.query(`
      -- A lead is rendered with the values of its tags as they are when its transaction ends: who renames one waits, and
      -- finds the lead; who was renaming is waited for. The names of the triggers put them before the rendering.
      create function hold_tag_options() returns trigger language plpgsql as $$
      begin
        perform from tag_options o where (o.organization_id, o.id) in (select organization_id, tag_option_id from changed)
          order by o.organization_id, o.id for share;
        return null;
      end $$;
      create trigger lead_tags_hold_inserted after insert on lead_tags
        referencing new table as changed for each statement execute function hold_tag_options();
      create trigger lead_tags_hold_updated after update on lead_tags
        referencing new table as changed for each statement execute function hold_tag_options();
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop function hold_tag_options() cascade'); // with its triggers
    await db.query(placeAtEnd(''));
  }
}

/** @param more done with a new row that has its moment */
const placeAtEnd = (more: string): string => `
  create or replace function place_at_end() returns trigger language plpgsql as $$
  declare
    owner integer := 0;
    moment timestamptz;
    last_moment timestamptz;
  begin
    if tg_table_name <> 'industry_events' then
      owner := new.organization_id;
    end if;
    moment := moment_at_end(tg_relid, owner);
    if tg_table_name <> 'events' then
      new.id := coalesce(new.id, uuid_of(moment));
    else
      -- An event's number is drawn before the lock is held, so its moment alone must say its place.
      select date_trunc('milliseconds', max(created_at)) into last_moment from events
        where organization_id = owner and created_at < moment + interval '1 second';
      moment := greatest(moment, last_moment + interval '1 millisecond');
    end if;
    new.created_at := date_trunc('milliseconds', moment);
    ${more}
    return new;
  end $$`;
