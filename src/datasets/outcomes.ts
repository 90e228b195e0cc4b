import type { EntityManager } from 'typeorm';
import type { Counts } from './dataset';
import { recordOf } from './export.service';
import type { Table } from './tables';

/** How many records of a section an import made, changed, and found as they are. */
export interface Outcome {
  created: number;
  updated: number;
  unchanged: number;
}

/** Records that a dry run shows. */
const MAX_SHOWN = 3;

/** Compares what is stored before and after an import, in its transaction. */
export class Outcomes {
  private readonly mains: Table[];
  /** how many were stored, by table */
  private readonly noted = new Map<string, number>();

  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
    private readonly tables: Table[],
  ) {
    this.mains = tables.filter(({ list }) => !list);
  }

  /** Notes what is stored of the records of the file. */
  async begin(): Promise<void> {
    for (const table of this.mains) {
      const { name, stage, match, dataset } = table;
      const known = dataset.shared?.known ?? `t.${match[0]} in (select ${match[0]} from ${stage})`;
      await this.manager.query(`drop table if exists before_${name}`);
      await this.manager.query(`create temporary table before_${name} (key text, state text) on commit drop`);
      const [row] = await this.query<{ count: number }>(
        `with noted as (
            insert into before_${name} select t.${match[0]}::text, md5(${this.stateOf(table)}) from ${name} t
            where ${this.own(table)} and (${known}) returning key
          ) select count(*)::integer as count from noted`,
      );
      this.noted.set(name, row?.count ?? 0);
    }
  }

  /** The keys of the records of a table that are stored. */
  async storedKeys(name: string): Promise<Set<string>> {
    const rows = await this.query<{ key: string }>(`select key from before_${name}`);
    return new Set(rows.map(({ key }) => key));
  }

  async end(imported: Counts): Promise<Record<string, Outcome>> {
    const outcomes: Record<string, Outcome> = {};
    for (const table of this.mains) {
      const { name, stage, match, section, isShared } = table;
      const count = imported[section] ?? 0;
      const isNew = !isShared && this.noted.get(name) === 0;
      const [row] = isNew
        ? []
        : await this.query<{ created: number; updated: number }>(
            `select
              (select count(distinct s.${match[0]}) from ${stage} s
                where not exists (select from before_${name} b where b.key = s.${match[0]}::text))::integer as created,
              (select count(*) from before_${name} b join ${name} t on t.${match[0]}::text = b.key and ${this.own(table)}
                where b.state is distinct from md5(${this.stateOf(table)}))::integer as updated`,
          );
      const { created, updated } = row ?? { created: count, updated: 0 };
      outcomes[section] = { created, updated, unchanged: Math.max(0, count - created - updated) };
    }
    return outcomes;
  }

  /** The first records as they are stored. */
  async first(): Promise<string[]> {
    const [main] = this.mains;
    if (!main) return [];
    const { name, stage, match, section } = main;
    const rows = await this.query<{ record: string }>(
      `select ${recordOf(this.tables.filter((table) => table.section === section))} as record
        from ${stage} s join ${name} t on t.${match[0]} = s.${match[0]} and ${this.own(main)}
        order by s.place limit ${MAX_SHOWN}`,
    );
    return rows.map(({ record }) => record);
  }

  private own = ({ isShared }: Table): string => (isShared ? 'true' : 't.organization_id = $1');

  private stateOf = ({ dataset, section }: Table): string =>
    dataset.state ?? recordOf(this.tables.filter((table) => table.section === section));

  private query<Row>(sql: string): Promise<Row[]> {
    return this.manager.query<Row[]>(sql, sql.includes('$1') ? [this.organizationId] : []);
  }
}
