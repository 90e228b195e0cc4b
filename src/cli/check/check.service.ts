import { DataSource, EntityManager } from 'typeorm';
import { LEAST_UUID } from '../../database/lists';
import { IMPORT_LOCK } from '../import/import.checks';

export interface CheckResult {
  /** leads whose stored JSON is not what a fresh rendering gives */
  documents: { checked: number; wrong: number };
  /** lists whose stored total or boundaries are not what a full scan gives */
  lists: { checked: number; wrong: number };
  /** industry events whose stored words are not what their fields give, and words of records that are not there */
  words: { checked: number; wrong: number };
  /** words of which it is not as stored how many industry events have them */
  wordCounts: { checked: number; wrong: number };
}

/** Industry events beside their words; either may be missing. */
const WORDS = 'industry_events e full join industry_event_words w on w.created_at = e.created_at and w.id = e.id';
const OUTDATED = 'e.id is null or w.words is distinct from words_of_industry_event(e)';

const STALE = 'document is distinct from lead_document(leads)';

interface WrongList {
  wrong_organization: number;
  wrong_parent: string;
  /** whether the data has it and the table `lists` does not */
  isMissing: boolean;
}

/** Compares what the database stores beside the data, to answer faster, with the data. */
export class CheckService {
  constructor(private readonly dataSource: DataSource) {}

  /** @param repair whether what is wrong is made right */
  async check(repair: boolean): Promise<CheckResult> {
    return {
      documents: await this.documents(repair),
      lists: await this.lists(repair),
      words: await this.words(repair),
      wordCounts: await this.wordCounts(repair),
    };
  }

  private async documents(repair: boolean): Promise<CheckResult['documents']> {
    const organizations = await this.dataSource.query<(CheckResult['documents'] & { organization: number })[]>(
      `select organization_id as organization, count(*)::integer as checked,
          (count(*) filter (where ${STALE}))::integer as wrong
        from leads group by organization_id`,
    );
    const result = { checked: 0, wrong: 0 };
    for (const { organization, checked, wrong } of organizations) {
      result.checked += checked;
      result.wrong += wrong;
      if (repair && wrong > 0) await this.repairDocuments(organization);
    }
    return result;
  }

  private async repairDocuments(organization: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      // Who changes many leads in an order of their own, and an import that does so too, would wait for each other.
      await manager.query('select pg_advisory_xact_lock($1, $2)', [IMPORT_LOCK, organization]);
      // The trigger renders anew, whatever is set; where somebody switched it off, this must be right by itself.
      await manager.query(`update leads set document = lead_document(leads) where organization_id = $1 and ${STALE}`, [
        organization,
      ]);
    });
  }

  private async lists(repair: boolean): Promise<CheckResult['lists']> {
    const [{ stored }] = await this.dataSource.query<[{ stored: number }]>(
      'select count(*)::integer as stored from lists',
    );
    const checks = await this.dataSource.query<{ list: string }[]>(
      `select substring(proname from '^check_(.*)_list$') as list from pg_proc
        where proname like 'check\\_%\\_list' and pronamespace = current_schema()::regnamespace order by 1`,
    );
    let wrong = 0;
    let missing = 0;
    for (const { list } of checks) {
      const found = await this.dataSource.query<WrongList[]>(
        `select w.*, l.id is null as "isMissing" from check_${list}_list() w
          left join lists l on (l.name, l.organization_id, l.parent) = ('${list}', wrong_organization, wrong_parent)`,
      );
      wrong += found.length;
      missing += found.filter(({ isMissing }) => isMissing).length;
      for (const { wrong_organization: organization, wrong_parent: parent } of repair ? found : []) {
        await this.dataSource.query(`select rebuild_${list}_list($1, $2)`, [organization, parent]);
      }
    }
    return { checked: stored + missing, wrong };
  }

  private async words(repair: boolean): Promise<CheckResult['words']> {
    const [result] = await this.dataSource.query<[CheckResult['words']]>(
      `select count(*)::integer as checked, (count(*) filter (where ${OUTDATED}))::integer as wrong from ${WORDS}`,
    );
    if (repair && result.wrong > 0) await this.repairWords();
    return result;
  }

  /** A record that is updated, whatever that sets, has its words made anew, of what it says by then. */
  private async repairWords(): Promise<void> {
    await this.withoutImports((manager) =>
      manager.query(`
        delete from industry_event_words w
          where not exists (select from industry_events e where e.created_at = w.created_at and e.id = w.id)`),
    );
    // Some at a time: others who change the catalogue wait for each.
    for (let last: [string, string] | undefined = ['-infinity', LEAST_UUID]; last;) {
      const place: [string, string] = last;
      last = await this.withoutImports((manager) => repairWordsBehind(manager, place));
    }
  }

  private async wordCounts(repair: boolean): Promise<CheckResult['wordCounts']> {
    const [result] = await this.dataSource.query<[CheckResult['wordCounts']]>(
      `select (select count(*)::integer from industry_event_word_counts) as checked,
        (select count(*)::integer from check_industry_event_words()) as wrong`,
    );
    if (repair && result.wrong > 0) await this.dataSource.query('select recount_industry_event_words()');
    return result;
  }

  /**
   * What changes many records of the catalogue and an import that does so too would wait for each other. The lock is a
   * shared one: clients who add a record do not take this for an import, behind which they would not wait for long.
   */
  private withoutImports<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock_shared($1, 0)', [IMPORT_LOCK]);
      return work(manager);
    });
  }
}

/** @returns the place of the last record that was looked at, or undefined when there is none any more */
async function repairWordsBehind(
  manager: EntityManager,
  place: [at: string, id: string],
): Promise<[string, string] | undefined> {
  const looked = await manager.query<{ at: string; id: string; outdated: boolean }[]>(
    `select e.created_at::text as at, e.id, w.words is distinct from words_of_industry_event(e) as outdated
      from (
        select id from industry_events where (created_at, id) > ($1, $2) order by created_at, id limit 1000
      ) next join industry_events e using (id)
        left join industry_event_words w on w.created_at = e.created_at and w.id = e.id
      order by e.created_at, e.id`,
    place,
  );
  const ids = looked.filter(({ outdated }) => outdated).map(({ id }) => id);
  if (ids.length > 0) await manager.query('update industry_events set name = name where id = any($1)', [ids]);
  const last = looked.at(-1);
  return last && [last.at, last.id];
}
