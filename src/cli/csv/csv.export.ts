import { stringify } from 'csv-stringify/sync';
import { exportedColumns } from './csv.columns';
import type { Draft } from '../../dataset/cells';
import { escapeFormula } from './csv.formulas';
import type { CsvForm } from './csv.options';
import type { Form } from '../export/export.form';

/** Records as rows of a table. */
export function csvForm({ section, delimiter, mappings, raw }: CsvForm, bom: boolean): Form {
  const columns = exportedColumns(section, mappings);
  const row = (cells: string[]): string => stringify([cells], { delimiter });
  return {
    begin: () => `${bom ? '\uFEFF' : ''}${row(columns.map(({ head }) => head))}`,
    record: (record) => {
      const values = JSON.parse(record) as Draft;
      const cells = columns.map(({ field }) => field.take(values));
      return row(raw ? cells : cells.map(escapeFormula));
    },
    end: '',
  };
}
