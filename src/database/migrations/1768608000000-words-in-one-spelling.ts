import { MigrationInterface, QueryRunner } from 'typeorm';

/** Between two readings of a text: so many stop words as nobody puts into a phrase. */
const MANY = 'the '.repeat(12);

/** Letters that are others of the same word: the sigma at the end of one, and alefs with their marks. */
const [VARIANTS, LETTERS] = ['ςأإآٱ', 'σاااا'];
/** Vowels of Arabic and Hebrew, which most texts leave out, and the stroke that makes an Arabic word longer. */
const MARKS = '[\u064b-\u0652\u0670\u0640\u05b0-\u05bc\u05c1\u05c2]';

/** What servers of the release before write meanwhile would keep its words as they were: they wait. */
const ALONE = 'lock table industry_events in share row exclusive mode';

/**
 * A word beyond ASCII was found only as it was written. Letters with marks, as in 'Київ' and 'が', are one character to some
 * programs and two to others; a Greek word in capitals ends with another letter. And the quotes that telephones write made
 * no phrase.
 */
export class WordsInOneSpelling1768608000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(`
      create function one_spelling(value text) returns text language sql immutable parallel safe as $$
        select case when octet_length(value) = length(value) then value
          else regexp_replace(translate(normalize(value), '${VARIANTS}', '${LETTERS}'), '${MARKS}', '', 'g') end
      $$`);
    await db.query(wordsOf('one_spelling(value)'));
    // Within straight quotes there are no others.
    await db.query(`
      create or replace function query_of(q text) returns tsquery language sql stable parallel safe as $$
        select case when s ~ '[^\\w\\s"]|_'
          then query_with_signs(case when s like '%"%' then s else translate(s, '“”„‟«»', '""""""') end)
          else websearch_to_tsquery('lanyard', s) end
        from (select one_spelling(q) as s offset 0) v
      $$`);
    await rewrite(db);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(ALONE);
    await db.query(wordsOf('value'));
    await db.query(`
      create or replace function query_of(q text) returns tsquery language sql stable parallel safe as $$
        select case when q ~ '[^\\w\\s"]|_' then query_with_signs(q) else websearch_to_tsquery('lanyard', q) end
      $$;
      drop function one_spelling(text)`);
    await rewrite(db);
  }
}

/** Both readings of a text: as it is written, and in parts. `offset 0` has PostgreSQL take the spelling once. */
const wordsOf = (text: string): string => `
  create or replace function words_of(value text) returns tsvector language sql stable parallel safe as $$
    select to_tsvector('lanyard', plain(s)) || case when s ~ '\\S[._/@:]\\S|[-+]\\d|\\w&\\w'
      then to_tsvector('lanyard', '${MANY}' || parts_of(s)) else '' end
    from (select ${text} as s offset 0) v
  $$`;

/** Only texts beyond ASCII have other words. */
const rewrite = async (db: QueryRunner): Promise<void> => {
  await db.query(`
    update industry_event_words w set words = words_of_industry_event(e) from industry_events e
    where e.created_at = w.created_at and e.id = w.id and octet_length(e::text) > length(e::text)
      and w.words is distinct from words_of_industry_event(e)`);
  // Totals that servers remember are of another version of the catalogue from now on.
  await db.query(`select count_industry_events_list(0, '', 0, 'infinity')`);
};
