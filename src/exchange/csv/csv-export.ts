import type { EntityManager } from 'typeorm';
import type { ExportFormat } from '../datasets/export-format';
import type { CsvFormat } from './csv-options';
import type { RecordDraft } from './csv-fields';
import { csvRow, escapeFormula } from './csv-formulas';
import type { CsvService } from './csv.service';
import { Lookup } from './lookup';

/** A column of an export. */
export interface ExportedColumn {
  name: string;
  /** The cell of a record. */
  cellOf: (record: RecordDraft) => string;
}

/** The columns of an export: those of `--map`, or all that have values and are not optional. */
export async function exportedColumns(
  manager: EntityManager,
  csv: CsvService,
  { section, mappings }: CsvFormat,
  organizationId: number,
): Promise<ExportedColumn[]> {
  const isChosen = mappings.length > 0;
  const defaults = csv.fields(section).filter(({ isOptional }) => !isOptional);
  const chosen = isChosen ? mappings : defaults.map((field) => ({ column: field.name, field }));
  const columns: ExportedColumn[] = [];
  for (const { column, field } of chosen) {
    if (!field?.format) continue;
    const { isPresentSql, references } = field;
    if (!isChosen && isPresentSql && !(await existsRow(manager, isPresentSql, organizationId))) continue;
    const lookup = references && (await Lookup.load(manager, organizationId, references));
    columns.push({ name: column, cellOf: (record) => field.format?.(record, lookup) ?? '' });
  }
  return columns;
}

async function existsRow(manager: EntityManager, select: string, organizationId: number): Promise<boolean> {
  const [row] = await manager.query<{ exists: boolean }[]>(`select exists (${select})`, [organizationId]);
  return row?.exists ?? false;
}

/**
 * CSV as RFC 4180 describes it, but with lines that end in a line feed alone.
 * @param hasByteOrderMark whether the file begins with a byte order mark, by which Excel detects UTF-8
 */
export function csvExportFormat(
  columns: ExportedColumn[],
  { delimiter = ',', raw }: CsvFormat,
  hasByteOrderMark: boolean,
): ExportFormat {
  const row = (cells: string[]): string => csvRow(cells, delimiter);
  return {
    beginSection: () => (hasByteOrderMark ? '\uFEFF' : '') + row(columns.map(({ name }) => name)),
    record: (json) => {
      const record = JSON.parse(json) as RecordDraft;
      const cells = columns.map(({ cellOf }) => cellOf(record));
      return row(raw ? cells : cells.map(escapeFormula));
    },
    end: '',
  };
}
