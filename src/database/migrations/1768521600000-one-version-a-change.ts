import { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The row of the catalogue's list was written once for each record whose words changed. PostgreSQL looks through all its
 * versions of a transaction each time: an update of 100,000 records took hours.
 */
export class OneVersionAChange1768521600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Nobody else sees what the row was in between. The setting ends with the transaction, and with a savepoint that is
    // rolled back, as the row's version does.
    await db.query(
      indexWith(`
      if tg_op = 'UPDATE' and current_setting('lanyard.words', true) is distinct from 'changed' then
        perform count_industry_events_list(0, '', 0, 'infinity');
        perform set_config('lanyard.words', 'changed', true);
      end if;`),
    );
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(
      indexWith(`
      if tg_op = 'UPDATE' then
        perform count_industry_events_list(0, '', 0, 'infinity');
      end if;`),
    );
  }
}

const indexWith = (newVersion: string): string => `
  create or replace function index_industry_event() returns trigger language plpgsql as $$
  begin
    if tg_op <> 'INSERT' then
      delete from industry_event_words where created_at = old.created_at and id = old.id;
    end if;
    if tg_op <> 'DELETE' then
      insert into industry_event_words (created_at, id, words)
        values (new.created_at, new.id, words_of_industry_event(new));
    end if;
    -- As an insert and a delete do, so that the list's row is another one whenever the words are others.${newVersion}
    return null;
  end $$;`;
