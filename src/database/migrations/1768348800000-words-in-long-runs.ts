import { MigrationInterface, QueryRunner } from 'typeorm';

/** What servers of the release before write meanwhile would keep its words as they were: they wait. */
const ALONE = 'lock table industry_events in share row exclusive mode';

/** Signs that make one word of what they join, to PostgreSQL. */
const JOINING = '._/@:-+';

/**
 * PostgreSQL's parser looks for the end of a word like 'a_a_a' again from each of its parts: 32,000 characters without a
 * blank took it six seconds. No word is so long that somebody looks for it as it is written, so a long run is its parts.
 */
export class WordsInLongRuns1768348800000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(`
      alter function plain(text) rename to without_signs;
      create function plain(value text) returns text language sql immutable parallel safe as $$
        select without_signs(case when length(value) >= 200 and value ~ '\\S{200}' then (
          select string_agg(
            case when length(run) >= 200 then translate(run, '${JOINING}', '${' '.repeat(JOINING.length)}') else run end,
            ' ' order by place)
          from regexp_split_to_table(value, '\\s+') with ordinality runs (run, place)) else value end)
      $$`);
    await rewrite(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query('drop function plain(text); alter function without_signs(text) rename to plain');
    await rewrite(db);
  }
}

const rewrite = async (db: QueryRunner): Promise<void> => {
  await db.query(`
    update industry_event_words w set words = words_of_industry_event(e) from industry_events e
    where e.created_at = w.created_at and e.id = w.id and e::text ~ '\\S{200}'
      and w.words is distinct from words_of_industry_event(e)`);
  // Totals that servers remember are of another version of the catalogue from now on.
  await db.query(`select count_industry_events_list(0, '', 0, 'infinity')`);
};
