import { INSERTS_DERIVED_COLUMNS } from '../schema/derived';
import type { ImportPlan } from './import-plan';
import type { FilledColumn, Table } from './tables';

/** Has `analyze` read a small sample, which is enough to choose how to join. */
export const SMALL_SAMPLE = 'set local default_statistics_target = 10';

/** How an import writes rows while others go on adding to the lists. */
export interface Reservation {
  /** How many positions of each list are left to the others. */
  margin: number;
}

/**
 * The temporary table of the rows that were written at reserved positions: in which list, from which position on, how many
 * positions were reserved, and at how many of them rows were written, because others may have written the same rows meanwhile.
 */
export const RESERVED_TABLE = 'reserved_rows';

export const CREATE_RESERVED_TABLE = `
  create temporary table ${RESERVED_TABLE} (list text, start bigint, reserved bigint, written bigint) on commit drop`;

/** Has the lists end after the rows at reserved positions. The lists are locked. */
export const ADVANCE_LISTS = `
  select list_advance($1, list, start, reserved, written) from (select * from ${RESERVED_TABLE} order by list) r`;

/**
 * The statements that write all staged rows, in an order that satisfies foreign keys.
 * Constraints are deferred while they run, so that rows may refer to rows written later.
 * `$1` is the organization's id.
 * @param reservation writes new rows at reserved positions, without a lock of their lists; otherwise the lists are locked
 */
export function writeStatements(tables: Table[], plan: ImportPlan, reservation?: Reservation): string[] {
  const statements = renderedTablesFirst(tables).flatMap((table) => {
    const owner = tables.find(({ name }) => name === table.owner?.target?.table);
    return tableStatements(table, plan, owner, reservation);
  });
  const begin = ['set constraints all deferred', `set local ${INSERTS_DERIVED_COLUMNS} = on`, SMALL_SAMPLE];
  return [...begin, ...statements, 'set constraints all immediate'];
}

/** Tables whose rows another one renders are written just before that one, so that each of its rows is rendered once. */
function renderedTablesFirst(tables: Table[]): Table[] {
  const renderedByTable = ({ name }: Table) =>
    tables.filter(({ dataset, list }) => (list ?? dataset).renderedBy === name);
  const rendered = tables.flatMap(renderedByTable);
  return tables.flatMap((table) => (rendered.includes(table) ? [] : [...renderedByTable(table), table]));
}

function tableStatements(
  table: Table,
  plan: ImportPlan,
  owner: Table | undefined,
  reservation?: Reservation,
): string[] {
  const { dataset, list } = table;
  if (dataset.shared) return sharedStatements(table, plan);
  const insert = table.tracked && reservation ? insertAtReserved(table, plan, reservation) : insertRows(table);
  // Plans for a table that was empty at its last VACUUM would read all of it for each row that refers to it.
  const inserts = reservation ? [insert, `analyze (skip_locked) ${table.name}`] : [insert];
  if (!list) return [...updateRows(table, plan), ...inserts];
  const isProvided = plan.providesField(list.name);
  const statements: string[] = [];
  if (isProvided && !list.isAdditive && owner) statements.push(deleteMissingEntries(table, owner));
  // A partial file adds entries to such a list, and leaves those that are stored as they are but for the fields it names.
  const areUpdated = !(plan.isPartial && list.isAdditive) || plan.updatedEntryFields(list.name).length > 0;
  if (isProvided && areUpdated) statements.push(...updateRows(table, plan));
  return [...statements, ...inserts];
}

function sharedStatements({ dataset, columns }: Table, plan: ImportPlan): string[] {
  const written = columns.filter(({ name, isKept }) => !isKept && name !== 'id');
  const provided = written.filter(({ path }) => plan.providesField(path));
  const names = (some: FilledColumn[]): string[] => some.map(({ name }) => name);
  return dataset.shared?.writeStatements(names(provided), names(written)) ?? [];
}

/** The staged rows of a table under the alias `s`, with ids in place of the keys that they refer to. */
export function stagedRows({ stage, columns }: Table): string {
  const joined = columns.filter(({ target }) => target && target.key !== 'id');
  const values = columns.map((column) =>
    joined.includes(column) ? `to_${column.name}.id as ${column.name}` : `s.${column.name}`,
  );
  const joins = joined.map(({ name, target }) => {
    const alias = `to_${name}`;
    return `left join ${target?.table} ${alias} on ${alias}.organization_id = $1 and ${alias}.${target?.key} = s.${name}`;
  });
  return `(select s.record_index, s.entry_index, ${values.join(', ')} from ${stage} s ${joins.join(' ')}) s`;
}

/** The condition that two rows match each other. */
const isSameRow = ({ match }: Table, one: string, other: string): string =>
  match.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ');

/** Deletes the stored entries that a record of the file no longer has. */
function deleteMissingEntries(table: Table, main: Table): string {
  const { name, owner } = table;
  const key = owner?.target?.key;
  return `
    delete from ${name} t using ${main.name} o
    where t.organization_id = $1 and o.organization_id = $1 and o.id = t.${owner?.name}
      and o.${key} in (select ${key} from ${main.stage})
      and not exists (select from ${stagedRows(table)} where ${isSameRow(table, 's', 't')})`;
}

/** Updates the stored rows that differ; no statement if the file provides nothing but their keys. */
function updateRows(table: Table, plan: ImportPlan): string[] {
  const { name, columns, match, list } = table;
  const entryFields = plan.isPartial && list?.isAdditive ? plan.updatedEntryFields(list.name) : undefined;
  const isUpdated = ({ path }: FilledColumn): boolean =>
    list ? (entryFields?.includes(path) ?? true) : plan.providesField(path);
  const updated = columns.filter((column) => !match.includes(column.name) && isUpdated(column));
  if (updated.length === 0) return [];
  // The entries of a partial file set flags of those that are stored, and never reset them.
  const values = updated.map((column) =>
    entryFields ? `t.${column.name} or s.${column.name}` : updatedValue(column, plan),
  );
  const assignments = updated.map((column, index) => `${column.name} = ${values[index]}`);
  const stored = updated.map((column) => `t.${column.name}`);
  return [
    `
    update ${name} t set ${assignments.join(', ')}
    from ${stagedRows(table)} where t.organization_id = $1 and ${isSameRow(table, 't', 's')}
      and (${stored.join(', ')}) is distinct from (${values.join(', ')})`,
  ];
}

function updatedValue({ name, path, isKept, type }: FilledColumn, plan: ImportPlan): string {
  if (isKept) return `coalesce(s.${name}, t.${name})`;
  // A partial file cannot tell null from an empty text, so a stored empty text is not changed to null.
  const isAmbiguous = plan.isPartial && type === 'text';
  const imported = isAmbiguous ? `coalesce(s.${name}, case t.${name} when '' then '' end)` : `s.${name}`;
  return plan.mergeSql(path, `t.${name}`, imported);
}

function insertRows(table: Table): string {
  const { name, columns, tracked } = table;
  if (!tracked) {
    const names = columns.map((column) => column.name);
    return `
    insert into ${name} (organization_id, ${names.join(', ')})
    select $1, ${columns.map(insertedValue).join(', ')} from ${stagedRows(table)} where ${isNew(table)}
    order by record_index, entry_index`;
  }
  return `with ${newRows(table)}, allocated as materialized (
      select parent, list_take($1, ${listName(table)}, count(*)) as start from fresh group by parent order by parent
    )
    ${insertListed(table)}`;
}

/**
 * Inserts at positions that are reserved, and adds them to the table of these. Others may add the same entry of a list meanwhile:
 * then theirs stays in its place, and has the values of the file if an update would give it those.
 */
function insertAtReserved(table: Table, plan: ImportPlan, { margin }: Reservation): string {
  const { columns, match, list, tracked } = table;
  const updated = columns.filter(({ name, isKept }) => !match.includes(name) && !isKept).map(({ name }) => name);
  const assignments = updated.map((name) => `${name} = excluded.${name}`);
  const action = plan.isPartial || updated.length === 0 ? 'do nothing' : `do update set ${assignments.join(', ')}`;
  const onConflict = list && match.length > 1 ? `on conflict (organization_id, ${match.join(', ')}) ${action}` : '';
  const parent = tracked?.parent ? tracked.parent.column : '0::bigint';
  return `with ${newRows(table)}, allocated as materialized (
      select parent, list_reserve($1, ${listName(table)}, ${margin}) as start, count(*) as reserved
      from fresh group by parent
    ), inserted as (
      ${insertListed(table)} ${onConflict} returning ${parent} as parent, xmax = 0 as is_new
    )
    insert into ${RESERVED_TABLE}
    select ${listName(table)}, start, reserved, count(*) filter (where is_new) as written
    from allocated join inserted using (parent) group by parent, start, reserved`;
}

/** The condition that a staged row is not stored. */
const isNew = (table: Table): string =>
  `not exists (select from ${table.name} t where t.organization_id = $1 and ${isSameRow(table, 't', 's')})`;

/** The new rows, numbered in each list. */
function newRows(table: Table): string {
  const parent = table.tracked?.parent ? `s.${table.tracked.parent.column}` : '0::bigint';
  return `fresh as materialized (
      select s.*, ${parent} as parent,
        row_number() over (partition by ${parent} order by ${insertionOrder(table)}) - 1 as n
      from ${stagedRows(table)} where ${isNew(table)}
    )`;
}

const listName = ({ name, tracked }: Table): string => (tracked?.parent ? `'${name}/' || parent` : `'${name}'`);

/** Inserts the rows of `fresh` where `allocated` has the `start` of their list. */
function insertListed({ name, columns, derived }: Table): string {
  const names = ['organization_id', 'position', ...columns.map((column) => column.name)];
  const values = ['$1::integer', 'start + n', ...columns.map(insertedValue)];
  const rows = `select ${values.map((value, index) => `${value} as ${names[index]}`).join(', ')}
    from fresh join allocated using (parent) order by parent, n`;
  if (!derived?.newRowExpression) return `insert into ${name} (${names.join(', ')}) ${rows}`;
  const { row, sql } = derived.newRowExpression;
  return `insert into ${name} (${names.join(', ')}, ${derived.column}) select ${row}.*, ${sql} from (${rows}) ${row}`;
}

/** A date that the file does not provide is that of the import; precise ones keep the order of the records. */
function insertedValue({ name, type, isKept, isPrecise }: FilledColumn): string {
  if (!isKept) return name;
  const offset = isPrecise ? ` + record_index * interval '1 microsecond'` : '';
  return `coalesce(${name}, now()${offset})::${type}`;
}

function insertionOrder({ columns, list }: Table): string {
  const first = columns.find(({ property }) => property === list?.orderedBy);
  const order = 's.record_index, s.entry_index';
  return first ? `coalesce(s.${first.name}, now()), ${order}` : order;
}
