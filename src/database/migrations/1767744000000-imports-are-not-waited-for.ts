import { MigrationInterface, QueryRunner } from 'typeorm';

/** The lock that an import of the catalogue holds (operator/import-fault.ts). */
const IMPORT_LOCK = '1767225600, 0';
/** Milliseconds that a new record of the catalogue may wait for another one, while the catalogue is imported. */
const PATIENCE = 250;

/**
 * An import holds the eventUrls that it adds until its end, which may be minutes away. Who adds one of them waits for it,
 * and all who add any record wait behind in turn: so nobody waits for long.
 */
export class ImportsAreNotWaitedFor1767744000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    // Named to come after industry_events_place: who waits for the place waits for others who do not wait for long.
    await db.query(`
      create function not_wait_for_import() returns trigger language plpgsql as $$
      begin
        if not pg_try_advisory_xact_lock_shared(${IMPORT_LOCK}) then
          perform set_config('lock_timeout', '${PATIENCE}', true);
        end if;
        return new;
      end $$;
      create trigger industry_events_place_at_once before insert on industry_events
        for each row execute function not_wait_for_import();
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop function not_wait_for_import() cascade'); // with its trigger
  }
}
