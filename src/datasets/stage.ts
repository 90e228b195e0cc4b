import type { EntityManager } from 'typeorm';
import type { Counts } from './dataset';
import type { Given } from './write-statements';
import type { Placed } from './record-reader';
import type { Table } from './tables';

/** Records that are sent to PostgreSQL at once. */
export const BATCH = 1000;

type Row = Record<string, unknown>;

/** What the file says, in temporary tables: nothing is locked while it is read, and memory does not grow with it. */
export class Stage {
  private readonly waiting = new Map<string, Placed[]>();
  /** The batch that PostgreSQL is busy with while the next one is read and checked. */
  private writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly manager: EntityManager,
    private readonly tables: Table[],
  ) {}

  /** Empty tables, whatever an import before left on the connection. */
  async create(): Promise<void> {
    for (const table of this.tables) {
      await this.manager.query(`drop table if exists ${table.stage}`);
      await this.manager.query(`create temporary table ${table.stage} (${definitions(table)})`);
    }
  }

  async add(placed: Placed): Promise<void> {
    const batch = this.waiting.get(placed.section) ?? [];
    this.waiting.set(placed.section, batch);
    if (batch.push(placed) === BATCH) await this.send(placed.section);
  }

  /** Everything that was added is there, as rows that find what is stored, and the planner knows how much it is. */
  async complete(organizationId: number, given: Given): Promise<void> {
    for (const section of this.waiting.keys()) await this.send(section);
    await this.writing;
    // A small sample is enough to choose how to join.
    const stages = this.tables.map(({ stage }) => stage);
    await this.manager.query(`set local default_statistics_target = 10; analyze ${stages.join(', ')}`);
    if (given.repeated) await this.keepOne(given);
    await this.match(organizationId, given);
  }

  /** Gives rows the ids of those that are stored. What is stored may change until the organization is locked. */
  async match(organizationId: number, { match }: Given): Promise<void> {
    const [main, ...lists] = this.filled(match !== undefined);
    if (!match || !main) return;
    const {
      stage,
      match: [id = ''],
    } = main;
    await this.manager.query(
      `with found as materialized (select s.place, s.${id} as old, (${match.find}) as id from ${stage} s)
        update ${stage} s set ${id} = f.id from found f
        where f.place = s.place and f.id is not null and f.id <> f.old`,
      [organizationId],
    );
    for (const { stage: list, owner } of lists) {
      await this.manager.query(
        `update ${list} l set ${owner?.name} = s.${id} from ${stage} s
          where s.place = l.place and l.${owner?.name} <> s.${id}`,
      );
    }
  }

  /** Of rows that are one, the first or the last counts. */
  private async keepOne({ match, repeated }: Given): Promise<void> {
    const [main, ...lists] = this.filled(true);
    if (!main) return;
    const key = match?.key ?? `s.${main.match[0]}`;
    const order = repeated === 'last' ? 'desc' : '';
    await this.manager.query(
      `delete from ${main.stage} d using (
          select s.place, row_number() over (partition by ${key} order by s.place ${order}) as time from ${main.stage} s
          where ${key} is not null
        ) r where r.place = d.place and r.time > 1`,
    );
    for (const { stage } of lists) {
      await this.manager.query(`delete from ${stage} where place not in (select place from ${main.stage})`);
    }
  }

  /** Records that count, of each section. */
  async count(tables: Table[], read: Counts, { repeated }: Given): Promise<Counts> {
    const [main] = tables;
    if (!repeated || !main) return read;
    const [{ count } = { count: 0 }] = await this.manager.query<{ count: number }[]>(
      `select count(*)::integer as count from ${main.stage}`,
    );
    return { ...read, [main.section]: count };
  }

  /** The tables of the one section of a file of CSV. */
  private filled(isOne: boolean): Table[] {
    const [section] = this.waiting.keys();
    return isOne ? this.tables.filter((table) => table.section === section) : [];
  }

  private async send(section: string): Promise<void> {
    const batch = this.waiting.get(section)?.splice(0) ?? [];
    const parts = this.tables
      .filter((table) => table.section === section)
      .map((table) => [table, JSON.stringify(batch.flatMap((placed) => rowsOf(table, placed)))] as const)
      .filter(([, rows]) => rows !== '[]');
    await this.writing;
    this.writing = (async () => {
      for (const [table, rows] of parts) {
        const from = `json_to_recordset($1) as r (${definitions(table)})`;
        await this.manager.query(`insert into ${table.stage} select * from ${from}`, [rows]);
      }
    })();
    this.writing.catch(() => undefined); // the next await gets it
  }
}

const definitions = ({ staged }: Table): string =>
  ['line integer', 'place integer', 'nth integer', ...staged.map(({ name, type }) => `${name} ${type}`)].join(', ');

function rowsOf({ list, owner, dataset, isOfTexts, staged, match }: Table, { record, place, line }: Placed): Row[] {
  if (!list) return [filled({ line, place }, staged, record as Row)];
  const entries = ((record as Row)[list.name] ?? []) as unknown[];
  return entries.map((entry, nth) => {
    const row: Row = { line, place, nth };
    if (isOfTexts) row[match[1] ?? ''] = entry;
    else filled(row, staged, entry as Row);
    row.position = nth;
    row[owner?.name ?? ''] = (record as Row)[dataset.key];
    return row;
  });
}

/** Columns that are null are left out. */
function filled(row: Row, columns: Table['staged'], from: Row): Row {
  for (const { name, path, initial } of columns) {
    const value = valueAt(from, path) ?? initial;
    if (value !== null && value !== undefined) row[name] = value;
  }
  return row;
}

function valueAt(from: Row, path: string): unknown {
  const dot = path.indexOf('.');
  if (dot < 0) return from[path];
  const inner = from[path.slice(0, dot)] as Row | null | undefined;
  return inner?.[path.slice(dot + 1)];
}
