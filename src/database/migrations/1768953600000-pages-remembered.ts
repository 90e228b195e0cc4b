import { MigrationInterface, QueryRunner } from 'typeorm';

const SEARCH = `'search_industry_events(text, integer, bigint, text)'::regprocedure`;

/**
 * A page of a search that was found before is not looked for again while the catalogue is the same. 'known' comes back with
 * the version of the catalogue and what a search of it found: the total, which page, and the ids on it. (Not to be passed
 * on within a transaction that changes the catalogue, to which one version is all that it writes.)
 */
export class PagesRemembered1768953600000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await edit(db, CHANGES);
  }

  async down(db: QueryRunner): Promise<void> {
    await edit(
      db,
      CHANGES.map(([before, after]) => [after, before]),
    );
  }
}

type Change = [before: string, after: string];

/** What the function says, and says from now on. */
const CHANGES: Change[] = [
  [
    `
      query constant tsquery := query_of(q);
      negated constant boolean := query::text like '%!%';`,
    `
      page constant text := page_size || ':' || page_index;
      remembered constant text[] := string_to_array(known, ' ');
      query tsquery;
      negated boolean;`,
  ],
  [
    `
      if split_part(known, ' of ', 2) = catalogue then
        total := split_part(known, ' of ', 1);
      end if;`,
    `
      known := null;
      if remembered[1] = catalogue then
        total := remembered[2];
        if remembered[3] = page then
          ids := remembered[4];
          return;
        end if;
      end if;
      query := query_of(q);
      negated := query::text like '%!%';`,
  ],
  [
    `
      few uuid[]; -- all matches, when there are 2,000 at most
      oldest uuid[]; -- else the matches among the 1,000 oldest records, and their tiers
      tiers integer[];`,
    `
      few uuid[]; -- all matches, when there are 2,000 at most
      oldest uuid[]; -- the matches among the 1,000 oldest records, when there are more; all, when there are 32 at most
      tiers integer[]; -- of those`,
  ],
  [
    `
      known := null;
      if total > 2000 then
        known := total || ' of ' || catalogue;`,
    `
      if total <= 32 then -- to read their words takes less time than to ask the index twice more
        select array_agg(m.id order by position), array_agg(
            case when ts_filter(words, '{a}') @@ query then 1 when ts_filter(words, '{a,b}') @@ query then 2 else 3 end
            order by position)
          into oldest, tiers
          from unnest(few) with ordinality m (id, position), lateral (
            select w.words || '' as words from industry_events e
              join industry_event_words w on w.created_at = e.created_at and w.id = e.id
              where e.id = m.id offset 0) w;
      elsif total > 2000 then`,
  ],
  [
    `
        elsif cardinality(matching) < missing then`,
    `
        elsif cardinality(matching) < missing and total > 32 then`,
  ],
  [
    `
      ids := '{}';
      if skipped >= total then
        return;
      end if;
      for tier in 1..3 loop`,
    `
      for tier in 1..3 loop
        exit when skipped >= total;`,
  ],
  [
    `
      ids := found[skipped + 1:];`,
    `
      ids := case when skipped < total then found[skipped + 1:] else '{}' end; -- a place in an array is no bigint
      known := catalogue || ' ' || total || ' ' || page || ' ' || ids::text;`,
  ],
];

async function edit(db: QueryRunner, changes: Change[]): Promise<void> {
  const [{ definition }] = (await db.query(`select pg_get_functiondef(${SEARCH}) as definition`)) as [
    { definition: string },
  ];
  const edited = changes.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`The function of the search does not say:${before}`);
    return text.replace(before, () => after);
  }, definition);
  await db.query(edited);
}
