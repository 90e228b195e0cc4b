import { schemasOf } from '../../fields/field-rules';
import type { OrganizationConnection } from './import-plan';
import { type FilledColumn, isVisible, type Table } from './tables';

const FETCH_SIZE = 1000;

/**
 * The rows of a select, in which `$1` is the organization, in batches that are not empty: a transaction's cursor reads them.
 * @param size how many rows are in memory at a time
 */
export async function* fetchBatches<Row>(
  { manager, organizationId }: OrganizationConnection,
  select: string,
  size = FETCH_SIZE,
): AsyncGenerator<Row[]> {
  // The statement of a cursor takes no parameters, so the number becomes part of its text.
  const text = select.replaceAll('$1', String(Math.trunc(organizationId)));
  await manager.query(`declare selected no scroll cursor for ${text}`);
  for (;;) {
    const rows = await manager.query<Row[]>(`fetch ${size} from selected`);
    if (rows.length > 0) yield rows;
    if (rows.length < size) break;
  }
  await manager.query('close selected');
}

/** The select of one column, `record`: the JSON texts of a section's records, in the order of its list. */
export function selectRecords(main: Table): string {
  const order = main.tracked ? 'position' : 'id';
  return `select ${recordJson(main, 't')} as record from ${main.name} t where ${isVisible(main)} order by t.${order}`;
}

/** SQL of the JSON text of a row as a record. */
export function recordJson(main: Table, row: string): string {
  const { record, computedFields = {} } = main.dataset;
  const fields = [...schemasOf(record).keys()].map((field) => {
    const list = main.lists.find((table) => table.list?.name === field);
    const value = computedFields[field]?.select(row) ?? (list ? entriesJson(list, row) : fieldValue(main, field, row));
    return `${value} as "${field}"`;
  });
  return `(select row_to_json(r)::text from (select ${fields.join(', ')}) r)`;
}

/** A field is one column, or an object of several. */
function fieldValue({ columns }: Table, field: string, row: string): string {
  const column = columns.find(({ path }) => path === field);
  if (column) return columnValue(column, row);
  return objectJson(
    columns.filter(({ path }) => path.startsWith(`${field}.`)),
    row,
  );
}

/** The array whose entries are the rows of a table. */
function entriesJson({ name, columns, owner, list, record }: Table, row: string): string {
  const shown = columns.filter((column) => column !== owner && column.property !== 'position');
  const entry = record ? objectJson(shown, 'c') : shown.map((column) => columnValue(column, 'c')).join();
  const order = list?.order?.('c') ?? 'c.position';
  return `coalesce((select json_agg(${entry} order by ${order}) from ${name} c
    where c.organization_id = ${row}.organization_id and c.${owner?.name} = ${row}.id), '[]')`;
}

function objectJson(columns: FilledColumn[], row: string): string {
  const values = columns.map((column) => {
    const name = column.path.slice(column.path.lastIndexOf('.') + 1);
    return `${columnValue(column, row)} as "${name}"`;
  });
  return `(select row_to_json(o) from (select ${values.join(', ')}) o)`;
}

/** A reference is rendered as the key of its target, and a date-time with the precision of its column. */
export function columnValue({ name, type, target, isAsStored, isPrecise, isDecimalText }: FilledColumn, row: string): string {
  if (target && !isAsStored) {
    return `(select o.${target.key} from ${target.table} o
      where o.organization_id = ${row}.organization_id and o.id = ${row}.${name})`;
  }
  if (isDecimalText) return `${row}.${name}::text`;
  if (isPrecise) return `to_char(${row}.${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return type.startsWith('timestamptz') ? `iso_utc(${row}.${name})` : `${row}.${name}`;
}
