import { DataSource } from 'typeorm';

export interface CheckResult {
  /** leads whose stored JSON is not what a fresh rendering gives */
  documents: { checked: number; wrong: number };
  /** lists whose stored total or boundaries are not what a full scan gives */
  lists: { checked: number; wrong: number };
}

const STALE = 'document is distinct from lead_document(leads)';

/** Compares what the database stores beside the data, to answer faster, with the data. */
export class CheckService {
  constructor(private readonly dataSource: DataSource) {}

  /** @param repair whether what is wrong is made right */
  async check(repair: boolean): Promise<CheckResult> {
    return { documents: await this.documents(repair), lists: await this.lists(repair) };
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
}
