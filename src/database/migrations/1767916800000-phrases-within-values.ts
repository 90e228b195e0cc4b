import { MigrationInterface, QueryRunner } from 'typeorm';

const FUNCTIONS = ['words_of(text)', 'words_of_industry_event(industry_events)'];

/** Between two values: so many stop words as nobody puts into a phrase. One alone let `"panels of wind"` cross it. */
const ONE = 'the ';
const MANY = ONE.repeat(12);

/** What servers of the release before write meanwhile would keep its words as they were: they wait. */
const ALONE = 'lock table industry_events in share row exclusive mode';

/** A phrase stands within one value, also when it has stop words in it. */
export class PhrasesWithinValues1767916800000 implements MigrationInterface {
  up = (db: QueryRunner): Promise<void> => replace(db, ONE, MANY);

  down = (db: QueryRunner): Promise<void> => replace(db, MANY, ONE);
}

async function replace(db: QueryRunner, before: string, after: string): Promise<void> {
  await db.query(ALONE);
  for (const name of FUNCTIONS) {
    const found: unknown = await db.query('select pg_get_functiondef($1::regprocedure) as definition', [name]);
    const [{ definition }] = found as [{ definition: string }];
    await db.query(definition.replaceAll(`'${before}'`, `'${after}'`).replaceAll(`' ${before}'`, `' ${after}'`));
  }
  await db.query(`
    update industry_event_words w set words = words_of_industry_event(e) from industry_events e
    where e.created_at = w.created_at and e.id = w.id and w.words is distinct from words_of_industry_event(e)`);
  // Totals that servers remember are of another version of the catalogue from now on.
  await db.query(`select count_industry_events_list(0, '', 0, 'infinity')`);
}
