import { schemasOf } from '../fields/field-rules';
import type { FilledColumn, Table } from './tables';

/** The select of one column, `record`: the JSON texts of a section's records, in the order of its list. */
export function selectRecords(tables: Table[]): string {
  const [main] = tables as [Table];
  const where = main.isShared ? '' : 'where t.organization_id = $1';
  const order = main.tracked ? 'position' : 'id';
  return `select ${recordJson(tables, 't')} as record from ${main.name} t ${where} order by t.${order}`;
}

/**
 * SQL of the JSON text of a row as a record.
 * @param tables of one section
 */
export function recordJson(tables: Table[], row: string): string {
  const [main] = tables as [Table];
  const { record, computedFields = {} } = main.dataset;
  const fields = [...schemasOf(record).keys()].map((field) => {
    const list = tables.find((table) => table.list?.name === field);
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
function entriesJson({ name, columns, owner, list, hasTextEntries }: Table, row: string): string {
  const shown = columns.filter((column) => column !== owner && column.property !== 'position');
  const entry = hasTextEntries ? shown.map((column) => columnValue(column, 'c')).join() : objectJson(shown, 'c');
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
function columnValue({ name, type, target, isPrecise, isDecimalText }: FilledColumn, row: string): string {
  if (target && target.key !== 'id') {
    return `(select o.${target.key} from ${target.table} o
      where o.organization_id = ${row}.organization_id and o.id = ${row}.${name})`;
  }
  if (isDecimalText) return `${row}.${name}::text`;
  if (isPrecise) return `to_char(${row}.${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return type.startsWith('timestamptz') ? `iso_utc(${row}.${name})` : `${row}.${name}`;
}
