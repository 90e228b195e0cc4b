import type { Draft } from '../csv/csv-values';
import type { CsvForm } from '../csv/csv-columns';
import { escapeFormula } from '../csv/csv-formulas';
import type { ExportedColumn } from './export.service';

/** How records become text: what stands before a section and at the end. */
export interface Form {
  /** @param nth section of the dataset, from 0 */
  begin(section: string, nth: number): string;
  /** @param nth of its section, from 0 */
  record(record: string, section: string, nth: number): string;
  end: string;
}

export const NDJSON: Form = {
  begin: () => '',
  record: (record, section) => `{"section":"${section}","record":${record}}\n`,
  end: '',
};

export const OBJECT: Form = {
  begin: (section, nth) => `${nth > 0 ? '],\n' : '{'}"${section}":[`,
  record: (record, _, nth) => `${nth > 0 ? ',' : ''}\n${record}`,
  end: ']}\n',
};

/** Rows of a table, as RFC 4180 has them, but that lines end with a line feed alone. */
export function csvForm(columns: ExportedColumn[], { delimiter = ',', raw }: CsvForm, bom: boolean): Form {
  const needsQuotes = (cell: string): boolean => cell.includes(delimiter) || /["\r\n]/.test(cell);
  const inQuotes = (cell: string): string => (needsQuotes(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const row = (cells: string[]): string => `${cells.map(inQuotes).join(delimiter)}\n`;
  return {
    begin: () => `${bom ? '\uFEFF' : ''}${row(columns.map(({ head }) => head))}`,
    record: (record) => {
      const values = JSON.parse(record) as Draft;
      const cells = columns.map(({ take }) => take(values));
      return row(raw ? cells : cells.map(escapeFormula));
    },
    end: '',
  };
}
