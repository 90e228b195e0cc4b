import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { schemasOf } from '../api/field-rules';
import type { Draft } from '../csv/csv-values';
import type { CsvForm } from '../csv/csv-columns';
import type { CsvService } from '../csv/csv.service';
import { Datasets } from './dataset';
import { Lookup } from '../csv/lookup';
import { type Column, type Table, tablesOf } from './tables';

/** A column of CSV, and its cell of a record. */
export interface ExportedColumn {
  head: string;
  take: (record: Draft) => string;
}

/** Records that are in memory at a time. */
const FETCH = 1000;

/** Writes the data of an organization in the form of a dataset. */
@Injectable()
export class ExportService {
  constructor(
    private readonly dataSource: DataSource,
    readonly datasets: Datasets,
  ) {}

  /** What an export of CSV needs to know of an organization beside its records. */
  async csvColumns(csv: CsvService, form: CsvForm, organizationId: number): Promise<ExportedColumn[]> {
    const { manager } = this.dataSource;
    const all = csv.fields(form.section).filter(({ take, isOptional }) => take && !isOptional);
    const wanted = form.mappings.length > 0 ? form.mappings : all.map((field) => ({ column: field.name, field }));
    const columns: ExportedColumn[] = [];
    for (const { column, field } of wanted) {
      if (!field?.take) continue;
      const { occurs, lookup, take } = field;
      if (occurs && form.mappings.length === 0) {
        const [{ exists }] = await manager.query<[{ exists: boolean }]>(`select exists (${occurs})`, [organizationId]);
        if (!exists) continue;
      }
      const names = lookup && (await Lookup.load(manager, organizationId, lookup));
      columns.push({ head: column, take: (record) => take(record, names) });
    }
    return columns;
  }

  /**
   * Reads each section in the order of its list, as it was at one moment: one transaction sees no change that others make
   * meanwhile. Memory does not grow with the number of records.
   * @param receive is given the records of one section after another, as the JSON text that PostgreSQL rendered
   */
  export(
    organizationId: number,
    sections: string[],
    receive: (section: string, records: AsyncIterable<string>) => Promise<void>,
  ): Promise<void> {
    const tables = tablesOf(this.dataSource, this.datasets);
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query('set transaction read only');
      for (const section of sections) {
        const select = recordsSelect(tables.filter((table) => table.section === section));
        // The statement of a cursor has no parameters.
        await receive(section, recordsOf(manager, select.replaceAll('$1', String(Math.trunc(organizationId)))));
      }
    });
  }
}

/** The records of a select, through a cursor of the transaction. */
async function* recordsOf(manager: EntityManager, select: string): AsyncGenerator<string> {
  await manager.query(`declare records no scroll cursor for ${select}`);
  for (;;) {
    const rows = await manager.query<{ record: string }[]>(`fetch ${FETCH} from records`);
    for (const { record } of rows) yield record;
    if (rows.length < FETCH) break;
  }
  await manager.query('close records');
}

/** The select of one column, `record`: the JSON texts of a section's records, in the order of its list. */
function recordsSelect(tables: Table[]): string {
  const [main] = tables as [Table];
  const where = main.isShared ? '' : 'where t.organization_id = $1';
  const order = main.tracked ? 'position' : 'id';
  return `select ${recordOf(tables)} as record from ${main.name} t ${where} order by t.${order}`;
}

/** SQL of the JSON text of a row `t` as a record. */
export function recordOf(tables: Table[]): string {
  const [main] = tables as [Table];
  const { record, more = {} } = main.dataset;
  const fields = [...schemasOf(record).keys()].map((field) => {
    const list = tables.find((table) => table.list?.name === field);
    return `${more[field]?.select ?? (list ? entries(list) : value(main, field))} as "${field}"`;
  });
  return `(select row_to_json(r)::text from (select ${fields.join(', ')}) r)`;
}

/** A field that is one column, or an object of several. */
function value({ columns }: Table, field: string): string {
  const column = columns.find(({ path }) => path === field);
  const parts = columns.filter(({ path }) => path.startsWith(`${field}.`));
  return column ? rendered('t', column) : object('t', parts);
}

/** The array whose entries are the rows of a table. */
function entries({ name, columns, owner, list, isOfTexts }: Table): string {
  const shown = columns.filter((column) => column !== owner && column.property !== 'position');
  const entry = isOfTexts ? shown.map((column) => rendered('c', column)).join() : object('c', shown);
  return `coalesce((select json_agg(${entry} order by ${list?.order ?? 'c.position'}) from ${name} c
    where c.organization_id = t.organization_id and c.${owner?.name} = t.id), '[]')`;
}

function object(row: string, columns: Column[]): string {
  const values = columns.map(
    (column) => `${rendered(row, column)} as "${column.path.slice(column.path.lastIndexOf('.') + 1)}"`,
  );
  return `(select row_to_json(o) from (select ${values.join(', ')}) o)`;
}

/** The value of a column of a row; the key of what it refers to. Associations are listed by the microsecond. */
function rendered(row: string, { name, type, target, isPrecise }: Column): string {
  if (target && target.key !== 'id') {
    return `(select o.${target.key} from ${target.table} o
      where o.organization_id = ${row}.organization_id and o.id = ${row}.${name})`;
  }
  if (isPrecise) return `to_char(${row}.${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return type.startsWith('timestamptz') ? `iso_utc(${row}.${name})` : `${row}.${name}`;
}
