import type { CsvMatch } from './dataset';
import type { ToldFault } from './faults';
import type { Column, Table } from './tables';

/** Where a record stood. */
export interface Place {
  section: string;
  /** in its section */
  place: number;
  /** of the file, from 1 */
  line?: number | null;
}

/** Where a fault is; its value where that is not what is stored, and its order where lines alone do not say it. */
export type FaultPlace = Pick<ToldFault, 'line' | 'column' | 'path' | 'order'> & { value?: null };

/** What of a record the file has. Stored rows keep the rest. */
export interface Given {
  /** whether the file has a part of the fields only */
  isPart: boolean;
  has(path: string): boolean;
  /** SQL for what a stored row gets */
  merged(path: string, stored: string, given: string): string;
  /** a place in a record, or with an empty path all of it */
  faultAt(place: Place, path: string): FaultPlace;
  /** how rows find stored ones; undefined is by their key */
  match?: CsvMatch;
  /** the path of that key in a record */
  keyPath?: string;
  /** which row counts of those that are one; undefined where that is a fault */
  repeated?: 'first' | 'last';
}

export const WHOLE: Given = {
  isPart: false,
  has: () => true,
  merged: (_, __, given) => given,
  faultAt: ({ section, place, line = null }, path) => ({
    ...{ line, column: null },
    path: `${section}[${place}]${path && `.${path}`}`,
  }),
};

/** The statements that write what is staged, parents first; `$1` is the organization. */
export const movesOf = (tables: Table[], given: Given): string[] => [
  'set constraints all deferred',
  ...inOrder(tables).flatMap((table) => moves(table, given)),
  'set constraints all immediate',
];

/** Rows that others show stand right before those: each is rendered once. Their foreign keys wait for the end. */
function inOrder(tables: Table[]): Table[] {
  const shownIn = ({ name }: Table) => tables.filter(({ dataset, list }) => (list ?? dataset).shownBy === name);
  const early = tables.flatMap(shownIn);
  return tables.flatMap((table) => (early.includes(table) ? [] : [...shownIn(table), table]));
}

function moves(table: Table, given: Given): string[] {
  const { dataset, list, columns } = table;
  if (dataset.shared) {
    const all = columns.filter(({ name, isKept }) => !isKept && name !== 'id');
    const names = (of: Column[]): string[] => of.map(({ name }) => name);
    return dataset.shared.move(names(all.filter(({ path }) => given.has(path))), names(all));
  }
  const isWhole = !list || given.has(list.name);
  return [
    ...(list && isWhole && !list.isAdditive ? [remove(table)] : []),
    ...(isWhole && !(given.isPart && list?.isAdditive) ? update(table, given) : []),
    insert(table),
  ];
}

/** The staged rows `s` of a table, with ids in place of what they refer to. */
function source({ stage, columns }: Table): string {
  const joined = columns.filter(({ target }) => target && target.key !== 'id');
  const values = columns.map((column) =>
    joined.includes(column) ? `to_${column.name}.id as ${column.name}` : `s.${column.name}`,
  );
  const joins = joined.map(({ name, target }) => {
    const to = `to_${name}`;
    return `left join ${target?.table} ${to} on ${to}.organization_id = $1 and ${to}.${target?.key} = s.${name}`;
  });
  return `(select s.place, s.nth, ${values.join(', ')} from ${stage} s ${joins.join(' ')}) s`;
}

const same = ({ match }: Table, one: string, other: string): string =>
  match.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ');

/** Of the records of the file, stored rows that they have no more. */
function remove(table: Table): string {
  const { name, owner } = table;
  const { table: main, key } = owner?.target ?? { table: '', key: '' };
  return `
    delete from ${name} t using ${main} o
    where t.organization_id = $1 and o.organization_id = $1 and o.id = t.${owner?.name}
      and o.${key} in (select ${key} from staged_${main})
      and not exists (select from ${source(table)} where ${same(table, 's', 't')})`;
}

function update(table: Table, given: Given): string[] {
  const { name, columns, match, list } = table;
  const changed = columns.filter(
    (column) => !match.includes(column.name) && (list !== undefined || given.has(column.path)),
  );
  if (changed.length === 0) return [];
  const values = changed.map(({ name: column, path, isKept, type }) => {
    if (isKept) return `coalesce(s.${column}, t.${column})`;
    // An empty cell is null, and what an empty text is written as.
    const fresh =
      given.isPart && type === 'text' ? `coalesce(s.${column}, case t.${column} when '' then '' end)` : `s.${column}`;
    return given.merged(path, `t.${column}`, fresh);
  });
  return [
    `
    update ${name} t set ${changed.map((column, index) => `${column.name} = ${values[index]}`).join(', ')}
    from ${source(table)} where t.organization_id = $1 and ${same(table, 't', 's')}
      and (${changed.map((column) => `t.${column.name}`).join(', ')}) is distinct from (${values.join(', ')})`,
  ];
}

function insert(table: Table): string {
  const { name, columns, tracked, list } = table;
  const names = columns.map((column) => column.name);
  const values = columns.map(({ name: column, isKept, isPrecise }) => {
    if (!isKept) return column;
    return `coalesce(${column}, now()${isPrecise ? ` + place * interval '1 microsecond'` : ''})`;
  });
  const isNew = `not exists (select from ${name} t where t.organization_id = $1 and ${same(table, 't', 's')})`;
  if (!tracked) {
    return `
    insert into ${name} (organization_id, ${names.join(', ')})
    select $1, ${values.join(', ')} from ${source(table)} where ${isNew} order by place, nth`;
  }
  const parent = tracked.parent ? `s.${tracked.parent.column}` : '0::bigint';
  const listName = tracked.parent ? `'${name}/' || parent` : `'${name}'`;
  const ordered = columns.find(({ property }) => property === list?.orderedBy);
  const order = ordered ? `coalesce(s.${ordered.name}, now()), s.place, s.nth` : 's.place, s.nth';
  return `
    with fresh as materialized (
      select s.*, ${parent} as parent, row_number() over (partition by ${parent} order by ${order}) - 1 as n
      from ${source(table)} where ${isNew}
    ), taken as materialized (
      select parent, list_take($1, ${listName}, count(*)) as start from fresh group by parent order by parent
    )
    insert into ${name} (organization_id, position, ${names.join(', ')})
    select $1, start + n, ${values.join(', ')} from fresh join taken using (parent) order by parent, n`;
}
