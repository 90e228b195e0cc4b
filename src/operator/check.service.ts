import { DataSource } from 'typeorm';

export interface CheckResult {
  /** leads whose stored JSON is not what a fresh rendering gives */
  documents: { checked: number; wrong: number };
  /** lists whose stored total or boundaries are not what a full scan gives */
  lists: { checked: number; wrong: number };
  /** industry events whose stored words are not what their fields give, and words of records that are not there */
  words: { checked: number; wrong: number };
}

/** Industry events beside their words; either may be missing. */
const WORDS = 'industry_events e full join industry_event_words w on w.created_at = e.created_at and w.id = e.id';
const OUTDATED = 'e.id is null or w.words is distinct from words_of_industry_event(e)';

const STALE = 'document is distinct from lead_document(leads)';

/** Compares what the database stores beside the data, to answer faster, with the data. */
export class CheckService {
  constructor(private readonly dataSource: DataSource) {}

  /** @param repair whether what is wrong is made right */
  async check(repair: boolean): Promise<CheckResult> {
    return {
      documents: await this.documents(repair),
      lists: await this.lists(repair),
      words: await this.words(repair),
    };
  }

  private async documents(repair: boolean): Promise<CheckResult['documents']> {
    const [result] = await this.dataSource.query<[CheckResult['documents']]>(
      `select count(*)::integer as checked, (count(*) filter (where ${STALE}))::integer as wrong from leads`,
    );
    // An update renders anew, whatever it sets.
    if (repair && result.wrong > 0) await this.dataSource.query(`update leads set document = '' where ${STALE}`);
    return result;
  }

  private async lists(repair: boolean): Promise<CheckResult['lists']> {
    const [{ checked }] = await this.dataSource.query<[{ checked: number }]>(
      'select count(*)::integer as checked from lists',
    );
    const checks = await this.dataSource.query<{ list: string }[]>(
      `select substring(proname from '^check_(.*)_list$') as list from pg_proc
        where proname like 'check\\_%\\_list' and pronamespace = current_schema()::regnamespace order by 1`,
    );
    let wrong = 0;
    for (const { list } of checks) {
      const found = await this.dataSource.query<{ wrong_organization: number; wrong_parent: string }[]>(
        `select * from check_${list}_list()`,
      );
      wrong += found.length;
      for (const { wrong_organization: organization, wrong_parent: parent } of repair ? found : []) {
        await this.dataSource.query(`select rebuild_${list}_list($1, $2)`, [organization, parent]);
      }
    }
    return { checked, wrong };
  }

  private async words(repair: boolean): Promise<CheckResult['words']> {
    const [result] = await this.dataSource.query<[CheckResult['words']]>(
      `select count(*)::integer as checked, (count(*) filter (where ${OUTDATED}))::integer as wrong from ${WORDS}`,
    );
    if (repair && result.wrong > 0) {
      await this.dataSource.query(`
        with outdated as (select e, w.created_at, w.id from ${WORDS} where ${OUTDATED}),
          gone as (delete from industry_event_words w using outdated o where w.created_at = o.created_at and w.id = o.id
            and (o.e).id is null)
        insert into industry_event_words as w (created_at, id, words)
        select (e).created_at, (e).id, words_of_industry_event(e) from outdated where (e).id is not null
        on conflict (created_at, id) do update set words = excluded.words;
        -- Totals that servers remember are of another version of the catalogue from now on.
        select count_industry_events_list(0, '', 0, 'infinity')`);
    }
    return result;
  }
}
