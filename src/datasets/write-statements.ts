import type { Coverage } from './coverage';
import type { FilledColumn, Table } from './tables';

/**
 * The statements that write all staged rows, in an order that satisfies foreign keys.
 * Constraints are deferred while they run, so that rows may refer to rows written later.
 * `$1` is the organization's id.
 */
export function writeStatements(tables: Table[], coverage: Coverage): string[] {
  const statements = renderedTablesFirst(tables).flatMap((table) => tableStatements(table, coverage));
  return ['set constraints all deferred', ...statements, 'set constraints all immediate'];
}

/** Tables whose rows another one renders are written just before that one, so that each of its rows is rendered once. */
function renderedTablesFirst(tables: Table[]): Table[] {
  const renderedByTable = ({ name }: Table) =>
    tables.filter(({ dataset, list }) => (list ?? dataset).renderedBy === name);
  const rendered = tables.flatMap(renderedByTable);
  return tables.flatMap((table) => (rendered.includes(table) ? [] : [...renderedByTable(table), table]));
}

function tableStatements(table: Table, coverage: Coverage): string[] {
  const { dataset, list } = table;
  if (dataset.shared) return sharedStatements(table, coverage);
  if (!list) return [...updateRows(table, coverage), insertRows(table)];
  const isProvided = coverage.providesField(list.name);
  const statements: string[] = [];
  if (isProvided && !list.isAdditive) statements.push(deleteMissingEntries(table));
  // A partial file adds entries to such a list, and leaves those that are stored as they are but for the fields it names.
  const areUpdated = !(coverage.isPartial && list.isAdditive) || coverage.updatedEntryFields?.(list.name).length;
  if (isProvided && areUpdated) statements.push(...updateRows(table, coverage));
  return [...statements, insertRows(table)];
}

function sharedStatements({ dataset, columns }: Table, coverage: Coverage): string[] {
  const written = columns.filter(({ name, isKept }) => !isKept && name !== 'id');
  const provided = written.filter(({ path }) => coverage.providesField(path));
  const names = (some: FilledColumn[]): string[] => some.map(({ name }) => name);
  return dataset.shared?.writeStatements(names(provided), names(written)) ?? [];
}

/** The staged rows of a table under the alias `s`, with ids in place of the keys that they refer to. */
function stagedRows({ stage, columns }: Table): string {
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
function deleteMissingEntries(table: Table): string {
  const { name, owner } = table;
  const { table: main, key } = owner?.target ?? { table: '', key: '' };
  return `
    delete from ${name} t using ${main} o
    where t.organization_id = $1 and o.organization_id = $1 and o.id = t.${owner?.name}
      and o.${key} in (select ${key} from staged_${main})
      and not exists (select from ${stagedRows(table)} where ${isSameRow(table, 's', 't')})`;
}

/** Updates the stored rows that differ; no statement if the file provides nothing but their keys. */
function updateRows(table: Table, coverage: Coverage): string[] {
  const { name, columns, match, list } = table;
  const entryFields = coverage.isPartial && list?.isAdditive ? coverage.updatedEntryFields?.(list.name) : undefined;
  const isUpdated = ({ path }: FilledColumn): boolean =>
    list ? (entryFields?.includes(path) ?? true) : coverage.providesField(path);
  const updated = columns.filter((column) => !match.includes(column.name) && isUpdated(column));
  if (updated.length === 0) return [];
  // The entries of a partial file set flags of those that are stored, and never reset them.
  const values = updated.map((column) =>
    entryFields ? `t.${column.name} or s.${column.name}` : updatedValue(column, coverage),
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

function updatedValue({ name, path, isKept, type }: FilledColumn, coverage: Coverage): string {
  if (isKept) return `coalesce(s.${name}, t.${name})`;
  // A partial file cannot tell null from an empty text, so a stored empty text is not changed to null.
  const isAmbiguous = coverage.isPartial && type === 'text';
  const imported = isAmbiguous ? `coalesce(s.${name}, case t.${name} when '' then '' end)` : `s.${name}`;
  return coverage.mergeSql(path, `t.${name}`, imported);
}

function insertRows(table: Table): string {
  const { name, columns, tracked } = table;
  const names = columns.map((column) => column.name);
  const values = columns.map(insertedValue);
  const isNew = `not exists (select from ${name} t where t.organization_id = $1 and ${isSameRow(table, 't', 's')})`;
  if (!tracked) {
    return `
    insert into ${name} (organization_id, ${names.join(', ')})
    select $1, ${values.join(', ')} from ${stagedRows(table)} where ${isNew} order by record_index, entry_index`;
  }
  const parent = tracked.parent ? `s.${tracked.parent.column}` : '0::bigint';
  const listName = tracked.parent ? `'${name}/' || parent` : `'${name}'`;
  return `
    with fresh as materialized (
      select s.*, ${parent} as parent,
        row_number() over (partition by ${parent} order by ${insertionOrder(table)}) - 1 as n
      from ${stagedRows(table)} where ${isNew}
    ), allocated as materialized (
      select parent, list_take($1, ${listName}, count(*)) as start from fresh group by parent order by parent
    )
    insert into ${name} (organization_id, position, ${names.join(', ')})
    select $1, start + n, ${values.join(', ')} from fresh join allocated using (parent) order by parent, n`;
}

/** A date that the file does not provide is that of the import; precise ones keep the order of the records. */
function insertedValue({ name, isKept, isPrecise }: FilledColumn): string {
  if (!isKept) return name;
  const offset = isPrecise ? ` + record_index * interval '1 microsecond'` : '';
  return `coalesce(${name}, now()${offset})`;
}

function insertionOrder({ columns, list }: Table): string {
  const first = columns.find(({ property }) => property === list?.orderedBy);
  const order = 's.record_index, s.entry_index';
  return first ? `coalesce(s.${first.name}, now()), ${order}` : order;
}
