import type { EntityManager } from 'typeorm';
import type { ExportFormat } from '../datasets/export-format';
import type { CsvField, RecordDraft } from './csv-fields';
import { csvRow, escapeFormula } from './csv-formulas';
import type { CsvService } from './csv.service';
import { Lookup } from './lookup';

/** A column of an export. */
export interface ExportedColumn {
  name: string;
  /** The cell of a record. */
  cellOf: (record: RecordDraft) => string;
}

/** What an export has, and how it is written. */
export interface CsvExport {
  section: string;
  /** By default a comma. */
  delimiter?: string;
  /** The columns that the operator has chosen. */
  columns: { column: string; field: CsvField }[];
  /** Whether cells that a spreadsheet would run as formulas have no apostrophe before them. */
  raw?: boolean;
}

/** The columns of an export: those of `--map`, or all that have values and are not optional. */
export async function exportedColumns(
  manager: EntityManager,
  csv: CsvService,
  { section, columns: given }: CsvExport,
  organizationId: number,
): Promise<ExportedColumn[]> {
  const isChosen = given.length > 0;
  const defaults = csv.fields(section).filter(({ isOptional }) => !isOptional);
  const chosen = isChosen ? given : defaults.map((field) => ({ column: field.name, field }));
  const columns: ExportedColumn[] = [];
  for (const { column, field } of chosen) {
    if (!field.format) continue;
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
  { delimiter = ',', raw }: CsvExport,
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
