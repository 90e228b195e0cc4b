import { INSERTS_DERIVED_COLUMNS } from '../../data/schema/derived';
import type { ImportPlan } from './import-plan';
import type { FilledColumn, Table } from './tables';

/** Has `analyze` read a small sample, which is enough to choose how to join. */
export const SMALL_SAMPLE = 'set local default_statistics_target = 10';

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
 * @param margin writes new rows at reserved positions, without a lock of their lists, and leaves so many positions of each list
 * to others; without it the lists are locked
 */
export function writeStatements(tables: Table[], plan: ImportPlan, margin?: number): string[] {
  const statements = renderedTablesFirst(tables).flatMap((table) => tableStatements(table, plan, margin));
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

function tableStatements(table: Table, plan: ImportPlan, margin?: number): string[] {
  const { name, dataset, list } = table;
  if (dataset.shared) return sharedStatements(table, plan);
  const inserts = [insertRows(table, plan, margin)];
  // Plans for a table that was empty at its last VACUUM would read all of it for each row that refers to it.
  if (margin !== undefined) inserts.push(`analyze (skip_locked) ${name}`);
  if (!list) return [...updateRows(table, plan), ...inserts];
  if (!plan.providesField(list.name)) return inserts;
  const deletes = list.isAdditive ? [] : [deleteMissingEntries(table, plan)];
  return [...deletes, ...updateRows(table, plan), ...inserts];
}

function sharedStatements(table: Table, plan: ImportPlan): string[] {
  const { dataset, columns } = table;
  const written = columns.filter(({ name, isKept }) => !isKept && name !== 'id');
  const provided = written.filter(({ path }) => plan.providesField(path));
  const names = (some: FilledColumn[]): string[] => some.map(({ name }) => name);
  const statements = dataset.shared?.writeStatements(names(provided), names(written)) ?? [];
  return plan.keepsMissing ? [completeRows(table, written), ...statements] : statements;
}

/** Gives staged rows what they lack: the stored values, or those of a new row. The rows of all organizations are locked. */
function completeRows({ name, stage, key }: Table, columns: FilledColumn[]): string {
  const values = columns.map((column) => {
    const stored = `t.${column.name}`;
    const value =
      column.initial === undefined ? stored : `coalesce(${stored}, ${quotedLiteral(column.initial)}::${column.type})`;
    return `${column.name} = coalesce(s.${column.name}, ${value})`;
  });
  return `update ${stage} s set ${values.join(', ')}
    from ${stage} own left join ${name} t on t.${key} = own.${key} where own.record_index = s.record_index`;
}

/** The staged rows of a table under the alias `s`, with ids in place of the keys that they refer to. */
export function stagedRows({ stage, columns }: Table): string {
  const joined = columns.filter(({ isAsStored }) => !isAsStored);
  const values = columns.map((column) =>
    joined.includes(column) ? `to_${column.name}.id as ${column.name}` : `s.${column.name}`,
  );
  const joins = joined.map(({ name, target }) => {
    const alias = `to_${name}`;
    return `left join ${target?.table} ${alias} on ${alias}.organization_id = $1 and ${alias}.${target?.key} = s.${name}`;
  });
  return `(select s.line, s.record_index, s.entry_index, ${values.join(', ')} from ${stage} s ${joins.join(' ')}) s`;
}

/** Matches texts without a character that can be seen: controls, formats and separators. */
const INVISIBLE_TEXT =
  '^[\\u0001-\\u0020\\u007f-\\u00a0\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff\\ufff9-\\ufffb]*$';

/** The condition that two rows match each other. */
const isSameRow = ({ match }: Table, one: string, other: string): string =>
  match.map((column) => `${one}.${column} = ${other}.${column}`).join(' and ');

/** Deletes the stored entries that a record of the file no longer has. A row without any may keep them all. */
function deleteMissingEntries(table: Table, { keepsMissing }: ImportPlan): string {
  const { name, owner, stage } = table;
  const hasEntries = keepsMissing
    ? `and exists (select from ${stage} own where own.${owner?.name} = t.${owner?.name})`
    : '';
  const { table: main, key } = owner?.target ?? {};
  return `
    delete from ${name} t using ${main} o
    where t.organization_id = $1 and o.organization_id = $1 and o.id = t.${owner?.name}
      and o.${key} in (select ${key} from staged_${main}) ${hasEntries}
      and not exists (select from ${stagedRows(table)} where ${isSameRow(table, 's', 't')})`;
}

/** Updates the stored rows that differ; no statement if the file provides nothing but their keys. */
function updateRows(table: Table, plan: ImportPlan): string[] {
  const { name, columns, match, list } = table;
  const entryFields = list?.isAdditive ? plan.updatedEntryFields?.(list.name) : undefined;
  const isUpdated = ({ path }: FilledColumn): boolean =>
    list ? (entryFields?.includes(path) ?? true) : plan.providesField(path);
  const updated = columns.filter((column) => !match.includes(column.name) && isUpdated(column));
  if (updated.length === 0) return [];
  // A partial file adds entries to such a list. It sets flags of those that are stored, and never resets them.
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
  // A partial file cannot tell null from a text that nobody can see, so a stored one is not changed to null.
  const isAmbiguous = plan.isPartial && !plan.keepsMissing && type === 'text';
  const imported = isAmbiguous
    ? `coalesce(s.${name}, case when t.${name} ~ '${INVISIBLE_TEXT}' then t.${name} end)`
    : `s.${name}`;
  return plan.mergeSql(path, `t.${name}`, imported);
}

/** Inserts the staged rows that are not stored, those of a list at positions of theirs. */
function insertRows(table: Table, plan: ImportPlan, margin?: number): string {
  const { name, columns, tracked } = table;
  if (!tracked) {
    return `
    insert into ${name} (organization_id, ${columns.map((column) => column.name).join(', ')})
    select $1, ${columns.map(insertedValue).join(', ')} from ${newRows(table)} order by record_index, entry_index`;
  }
  const parent = tracked.parent?.column ?? '0::bigint';
  const listName = tracked.parent ? `'${name}/' || parent` : `'${name}'`;
  const start =
    margin === undefined ? `list_take($1, ${listName}, count(*))` : `list_reserve($1, ${listName}, ${margin})`;
  const insert = `with fresh as materialized (
      select s.*, ${parent} as parent, row_number() over (partition by ${parent} order by ${insertionOrder(table)}) - 1 as n
      from ${newRows(table)}
    ), allocated as materialized (
      select parent, ${start} as start, count(*) as reserved from fresh group by parent order by parent
    )`;
  if (margin === undefined) return `${insert} ${insertListed(table)}`;
  return `${insert}, inserted as (
      ${insertListed(table)} ${onConflict(table, plan)} returning ${parent} as parent, xmax = 0 as is_new
    )
    insert into ${RESERVED_TABLE}
    select ${listName}, start, reserved, count(*) filter (where is_new) as written
    from allocated join inserted using (parent) group by parent, start, reserved`;
}

const newRows = (table: Table): string => `${stagedRows(table)} where not exists (
      select from ${table.name} t where t.organization_id = $1 and ${isSameRow(table, 't', 's')}
    )`;

/** Inserts the rows of `fresh` where `allocated` has the `start` of their list. */
function insertListed({ name, columns, derived }: Table): string {
  const names = ['organization_id', 'position', ...columns.map((column) => column.name)];
  const values = ['$1::integer', 'start + n', ...columns.map(insertedValue)];
  const rows = `select ${values.map((value, index) => `${value} as ${names[index]}`).join(', ')}
    from fresh join allocated using (parent) order by parent, n`;
  const computed = derived.find(({ newRowExpression }) => newRowExpression);
  if (!computed?.newRowExpression) return `insert into ${name} (${names.join(', ')}) ${rows}`;
  const { row, sql } = computed.newRowExpression;
  return `insert into ${name} (${names.join(', ')}, ${computed.column}) select ${row}.*, ${sql} from (${rows}) ${row}`;
}

/**
 * Others may add the same entry of a list before the lists are locked: then theirs stays in its place, and has the values of the
 * file if an update would give it those.
 */
function onConflict({ columns, match, list }: Table, plan: ImportPlan): string {
  if (!list || match.length === 1) return '';
  const updated = columns.filter(({ name, isKept }) => !match.includes(name) && !isKept);
  const assignments = updated.map(({ name }) => `${name} = excluded.${name}`);
  const action = plan.isPartial || updated.length === 0 ? 'do nothing' : `do update set ${assignments.join(', ')}`;
  return `on conflict (organization_id, ${match.join(', ')}) ${action}`;
}

/** A date that the file does not provide is that of the import; precise ones keep the order of the records. */
function insertedValue({ name, type, initial, isKept, isPrecise }: FilledColumn): string {
  if (!isKept && initial === undefined) return name;
  if (!isKept) return `coalesce(${name}, ${quotedLiteral(initial)}::${type})`;
  return isPrecise
    ? `coalesce(${name}, now() + record_index * interval '1 microsecond')`
    : `coalesce(${name}, now())::timestamptz(3)`;
}

function quotedLiteral(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `'${text.replaceAll("'", "''")}'`;
}

function insertionOrder({ columns, list }: Table): string {
  const first = columns.find(({ property }) => property === list?.orderedBy);
  const order = 's.record_index, s.entry_index';
  return first ? `coalesce(s.${first.name}, now()), ${order}` : order;
}
