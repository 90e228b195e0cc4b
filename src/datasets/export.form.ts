import { stringify } from 'csv-stringify/sync';
import type { Draft } from './cells';
import type { CsvForm } from './csv.columns';
import { escapeFormula } from './csv.formulas';
import type { CsvService } from './csv.service';

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

/** Rows of a table, with the columns that --map names, in its order, or with every field that loses nothing. */
export function csvForm(csv: CsvService, { section, delimiter, mappings, raw }: CsvForm, bom: boolean): Form {
  const all = csv.fields(section).map((field) => ({ column: field.name, field }));
  const columns = (mappings.length > 0 ? mappings : all).flatMap(({ column, field }) =>
    field?.take ? [{ head: column, take: field.take }] : [],
  );
  const row = (cells: string[]): string => stringify([cells], { delimiter });
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
