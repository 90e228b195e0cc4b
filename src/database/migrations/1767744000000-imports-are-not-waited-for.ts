import { MigrationInterface, QueryRunner } from 'typeorm';

/** The lock that an import of the catalogue holds (operator/import.checks.ts). */
const IMPORT_LOCK = '1767225600, 0';
/**
 * Milliseconds that a new record of the catalogue may wait, while the catalogue is imported: for its place behind others,
 * and for another record with its eventUrl.
 */
const FOR_ITS_PLACE = 1000;
const FOR_ITS_URL = 50;

/**
 * An import holds the eventUrls that it adds until its end, which may be minutes away. Who adds one of them waits for it,
 * and all who add any record wait behind in turn: so nobody waits for long.
 */
export class ImportsAreNotWaitedFor1767744000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // One trigger before industry_events_place, which waits for the place, and one after it.
    await db.query(`
      create function not_wait_for_import() returns trigger language plpgsql as $$
      begin
        if not pg_try_advisory_xact_lock_shared(${IMPORT_LOCK}) then
          perform set_config('lock_timeout', tg_argv[0], true);
        end if;
        return new;
      end $$;
      create trigger industry_events_at_once before insert on industry_events
        for each row execute function not_wait_for_import(${FOR_ITS_PLACE});
      create trigger industry_events_place_at_once before insert on industry_events
        for each row execute function not_wait_for_import(${FOR_ITS_URL});
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop function not_wait_for_import() cascade'); // with its triggers
  }
}
