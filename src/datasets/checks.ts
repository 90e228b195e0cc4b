import type { EntityManager } from 'typeorm';
import type { CsvMatch, Datasets } from './dataset';
import type { Faults, ToldFault } from './faults';
import type { Given, Place } from './write-statements';
import { type Column, SHOWN, type Table } from './tables';

/** What is wrong with rows. */
interface Check {
  /** these rows `s`, as it stands after `from` */
  rows: string;
  /** the path of what is at fault, in a record or an entry of its array */
  path: string;
  /** SQL of the value */
  value: string;
  reason: string;
  /** whether the rows say which one was `first`, and its `first_line` */
  isRepeated?: boolean;
}

interface Found {
  line: number | null;
  place: number;
  nth: number | null;
  value: string | null;
  count: number;
  first?: number;
  first_line?: number | null;
}

/** Faults that are told of one check. */
const MAX_FAULTS = 20;

/** The order of a fault in the file: by line, or in one object by section and place. */
export const orderOf = ({ names }: Datasets, { section, place, line }: Place): number =>
  line ?? names.indexOf(section) * 1e9 + place;

/** Checks the staged rows of an organization against each other and against what is stored. */
export class Checks {
  constructor(
    private readonly manager: EntityManager,
    private readonly organizationId: number,
    private readonly datasets: Datasets,
    private readonly given: Given,
  ) {}

  /** @param faulty sections of which not all records are staged: what refers to those need not be at fault */
  async all(tables: Table[], faulty: ReadonlySet<string>, faults: Faults): Promise<void> {
    for (const table of tables) {
      for (const check of checksOf(table, tables, faulty, this.given)) await this.run(table, check, faults);
    }
  }

  /** Checks, when all is written, what files say of fields that only GET shows. */
  async shown(tables: Table[], faults: Faults): Promise<void> {
    for (const table of tables.filter(({ dataset, list }) => dataset.shown && !list)) {
      const { stage, name, match, dataset } = table;
      const rows = `${stage} s join ${name} t on t.organization_id = $1 and t.${match[0]} = s.${match[0]}
        where s.${SHOWN} is not null and not ${dataset.shown?.json} @> s.${SHOWN}`;
      const reason = `says of ${dataset.shown?.fields.join(' or ')} what is not stored, and only GET shows them`;
      await this.run(table, { rows, path: '', value: 'null::text', reason }, faults);
    }
  }

  private async run({ section, list, isOfTexts }: Table, check: Check, faults: Faults): Promise<void> {
    const { rows, path, value, reason, isRepeated } = check;
    const first = isRepeated ? ', s.first, s.first_line' : '';
    const found = await this.manager.query<Found[]>(
      `select s.line, s.place, s.nth, ${value} as value, count(*) over ()::integer as count${first}
        from ${rows} order by s.place, s.nth limit ${MAX_FAULTS}`,
      rows.includes('$1') ? [this.organizationId] : [],
    );
    const told = found.map((each): ToldFault => {
      const at = { section, place: each.place, line: each.line };
      const inList = list ? `${list.name}[${each.nth}]${isOfTexts ? '' : `.${path}`}` : path;
      const before = each.first_line ? `line ${each.first_line}` : `${section}[${each.first}]`;
      const says = isRepeated ? `${reason}, first in ${before}` : reason;
      const place = this.given.faultAt(at, inList);
      return { value: each.value, order: orderOf(this.datasets, at), ...place, wanted: says, says };
    });
    faults.merge(told, found[0]?.count ?? 0);
  }
}

const textOf = ({ name }: Column): string => `s.${name}::text`;

function checksOf(table: Table, tables: Table[], faulty: ReadonlySet<string>, given: Given): Check[] {
  const { columns, dataset, match, owner, list } = table;
  const named = (name?: string): Column[] => columns.filter((column) => column.name === name);
  const asCheck = (column: Column) => ({ path: column.path, value: textOf(column) });
  const { match: by, keyPath = '' } = given;
  const key = by && !list ? [{ ...repeated(table, by.key, keyPath), value: by.shown }, taken(table, by)] : [];
  return [
    // Within an array, the record's own check has found them.
    ...(match.length > 1 ? [] : named(match[0]).map(({ name, path }) => repeated(table, `s.${name}`, path))),
    ...key,
    ...(table.isShared ? [] : named('id').map((column) => foreign(table, column))),
    ...(given.isPart ? missing(table) : []),
    ...columns.flatMap((column) => (column === owner ? [] : unknown(table, column, tables, faulty))),
    ...(list ? [] : (dataset.shared?.checks ?? [])).flatMap(({ column: name, ...check }) =>
      named(name).map((column) => ({ ...check, ...asCheck(column) })),
    ),
  ];
}

/** @param key SQL of a staged row `s` */
function repeated({ stage }: Table, key: string, path: string): Check {
  const of = `partition by ${key} order by place, nth`;
  return {
    ...{ path, value: `${key}::text`, isRepeated: true },
    rows: `(
      select s.*, row_number() over (${of}) as time, first_value(place) over (${of}) as first,
        first_value(line) over (${of}) as first_line
      from ${stage} s where ${key} in (select ${key} from ${stage} s group by ${key} having count(*) > 1)
    ) s where time > 1`,
    reason: 'is in the file twice',
  };
}

/** The id of a new record, where rows are matched by another key. */
const taken = ({ stage, name, match: [id = ''] }: Table, { find }: CsvMatch): Check => ({
  ...{ path: id, value: `s.${id}::text` },
  rows: `${stage} s join ${name} t on t.organization_id = $1 and t.${id} = s.${id} where (${find}) is distinct from s.${id}`,
  reason: 'is the id of another record, which has another key',
});

const foreign = ({ stage, name }: Table, column: Column): Check => ({
  ...{ path: column.path, value: textOf(column) },
  rows: `${stage} s join ${name} t on t.id = s.id where t.organization_id <> $1`,
  reason: 'belongs to another organization',
});

/** Of a file that has a part of the fields, new rows may lack what they need. */
const missing = ({ stage, name, match, columns, list, isShared }: Table): Check[] =>
  (list ? [] : columns.filter(({ isRequired }) => isRequired)).map((column) => ({
    ...{ path: column.path, value: textOf(column) },
    rows: `${stage} s where s.${column.name} is null and not exists (
        select from ${name} t where ${isShared ? '' : 't.organization_id = $1 and '}t.${match[0]} = s.${match[0]}
      )`,
    reason: 'missing; wanted one for a new record',
  }));

function unknown({ stage }: Table, column: Column, tables: Table[], faulty: ReadonlySet<string>): Check[] {
  if (!column.target) return [];
  const { table: name, key } = column.target;
  const target = tables.find((other) => other.name === name);
  if (target && faulty.has(target.section)) return [];
  const isStaged = target ? `and not exists (select from ${target.stage} g where g.${key} = s.${column.name})` : '';
  // Entries that the file takes from their record are no more.
  const { name: of, target: main } = target?.owner ?? {};
  const stays = main ? `and not exists (select from staged_${main.table} o where o.${main.key} = t.${of})` : '';
  const rows = `${stage} s where s.${column.name} is not null ${isStaged} and not exists (
      select from ${name} t where t.organization_id = $1 and t.${key} = s.${column.name} ${stays}
    )`;
  // `tag_options` has tag options
  const reason = `is an unknown ${name.replace(/s$/, '').replaceAll('_', ' ')}`;
  return [{ rows, path: column.path, value: textOf(column), reason }];
}
