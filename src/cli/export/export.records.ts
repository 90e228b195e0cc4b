import type { DataSource } from 'typeorm';
import { dateTime, object, objects, values } from '../../database/json';
import { fieldsOf } from '../../dataset/schema';
import type { SectionName } from '../import/sections';
import { type Column, type Table, tablesOf } from '../import/tables';

/**
 * The select of one column, `record`: the JSON texts of a section's records, in the order of its list. The organization is
 * written into it as a number, because the statement of a cursor is declared with it.
 */
export function recordsSelect(dataSource: DataSource, section: SectionName, organizationId: number): string {
  const tables = tablesOf(dataSource).filter((table) => table.section === section);
  const [main] = tables as [Table];
  const { record, more = {} } = main.dataset;
  const fields = [...fieldsOf(record).keys()].map((field) => {
    const list = tables.find((table) => table.list?.name === field);
    const own = main.columns.filter(({ path }) => path === field || path.startsWith(`${field}.`));
    return `${more[field]?.select ?? (list ? entries(list) : value(own, field))} as "${field}"`;
  });
  const where = main.isShared ? '' : 'where t.organization_id = $1';
  const order = main.tracked ? 'position' : 'id';
  const select = `select ${fields.join(', ')} from ${main.name} t ${where} order by t.${order}`;
  return `select row_to_json(r)::text as record from (${select}) r`.replaceAll(
    '$1',
    String(Math.trunc(organizationId)),
  );
}

/** A field that is one column, or an object of several. */
function value(columns: Column[], field: string): string {
  const [column] = columns;
  if (!column) throw new Error(`${field}: no column`);
  if (column.path === field) return rendered('t', column);
  return object(columns.map((each) => `${rendered('t', each)} as "${each.path.slice(field.length + 1)}"`).join(', '));
}

/** Associations are listed by the microsecond. */
const precise = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The value of a column of a row; the key of what it refers to. */
function rendered(row: string, { name, type, target, isPrecise }: Column): string {
  if (target && target.key !== 'id') {
    return `(select o.${target.key} from ${target.table} o
      where o.organization_id = ${row}.organization_id and o.id = ${row}.${name})`;
  }
  if (isPrecise) return precise(`${row}.${name}`);
  return type.startsWith('timestamptz') ? dateTime(`${row}.${name}`) : `${row}.${name}`;
}

/** The array whose entries are the rows of a table. */
function entries({ name, columns, owner, list, match, isOfTexts }: Table): string {
  const from = `${name} c where c.organization_id = t.organization_id and c.${owner?.name} = t.id`;
  const shown = columns.filter((column) => column !== owner && column.property !== 'position');
  const order = list?.order ?? 'c.position';
  const key = columns.find((column) => column.name === match[1]);
  if (isOfTexts && key) return values(rendered('c', key), from, order);
  const fields = shown.map((column) => `${rendered('c', column)} as "${column.path}"`);
  return objects(`select ${fields.join(', ')} from ${from} order by ${order}`);
}
