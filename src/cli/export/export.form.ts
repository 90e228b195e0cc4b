import { stringify } from 'csv-stringify/sync';
import type { Draft } from '../../dataset/cells';
import { exportedColumns } from '../csv/csv.columns';
import { escapeFormula } from '../csv/csv.formulas';
import type { CsvForm } from '../csv/csv.options';
import { type SectionName, SECTIONS } from '../import/sections';

/** How records become text: what stands before a section and at the end. */
export interface Form {
  begin(section: SectionName): string;
  /** @param nth of its section, from 0 */
  record(record: string, section: SectionName, nth: number): string;
  end: string;
}

export const NDJSON: Form = {
  begin: () => '',
  record: (record, section) => `{"section":"${section}","record":${record}}\n`,
  end: '',
};

export const OBJECT: Form = {
  begin: (section) => `${section === SECTIONS[0] ? '{' : '],\n'}"${section}":[`,
  record: (record, _, nth) => `${nth > 0 ? ',' : ''}\n${record}`,
  end: ']}\n',
};

/** Rows of a table. */
export function csvForm({ section, delimiter, mappings, raw }: CsvForm, bom: boolean): Form {
  const columns = exportedColumns(section, mappings);
  const row = (cells: string[]): string => stringify([cells], { delimiter });
  return {
    begin: () => `${bom ? '\uFEFF' : ''}${row(columns.map(({ head }) => head))}`,
    record: (record) => {
      const values = JSON.parse(record) as Draft;
      const cells = columns.map(({ field }) => field.take?.(values) ?? '');
      return row(raw ? cells : cells.map(escapeFormula));
    },
    end: '',
  };
}
