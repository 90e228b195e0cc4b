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
  const head = `${bom ? '\uFEFF' : ''}${row(columns.map(({ head: name }) => name))}`;
  return {
    record: ({ record }, _, before) => {
      const values = JSON.parse(record) as Draft;
      const cells = columns.map(({ field }) => field.take(values));
      return `${before ? '' : head}${row(raw ? cells : cells.map(escapeFormula))}`;
    },
    end: (last) => (last ? '' : head),
  };
}
