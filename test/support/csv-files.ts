import { Readable } from 'node:stream';
import { DataSource } from 'typeorm';
import { CsvService } from '../../src/exchange/csv/csv.service';
import { type Mapping, parseMapping } from '../../src/exchange/csv/mapping';
import type { CsvImport } from '../../src/exchange/csv/plan';
import { exactMapping } from '../../src/exchange/csv/propose';
import { csvImportSource } from '../../src/exchange/csv/read';
import type { LeftOut } from '../../src/exchange/datasets/import-plan';
import { ImportError } from '../../src/exchange/datasets/import-error';
import { type ImportResult, ImportService } from '../../src/exchange/datasets/import.service';
import { readingNotes } from '../../src/operator/import-report';
import { DATASETS } from './contexts';
import type { InProcess } from './lanyard';

export const CSV = new CsvService(DATASETS);

/** How an import of a CSV file has ended. */
export interface CsvOutcome {
  /** Undefined if the file was rejected. */
  result?: ImportResult;
  /** The lines of a rejection, as a person reads them. */
  errors: string[];
  leftOut: LeftOut[];
  /** What the result says of how the file was read. */
  notes: string[];
}

/** What each column fills: a field, a field with its format, or nothing. */
export type Columns = Record<string, string | null | [field: string, format: string]>;

/** The columns of a mapping. */
export const columnsOf = (columns: Columns): Mapping['columns'] =>
  Object.entries(columns).map(([column, to]) => {
    const [field, format] = Array.isArray(to) ? to : [to];
    return { column, field, format };
  });

/** A mapping of leads, checked as that of a file is. */
export const mappingOf = (columns: Columns, more: Partial<Mapping> = {}): Mapping =>
  parseMapping(JSON.stringify({ section: 'leads', columns: columnsOf(columns), ...more }), CSV);

/** The mapping of columns that have the names of fields. */
export const mappingOfNames = (names: string[]): Mapping =>
  mappingOf(Object.fromEntries(names.map((name) => [name, name])));

/** A file that can be opened again and again. */
export const fileOf = (content: Buffer | string) => (): Readable => Readable.from([Buffer.from(content)]);

/** The mapping of a file whose header has the names of fields. */
export async function mappingOfHeader(content: Buffer | string, section = 'leads'): Promise<Mapping> {
  const mapping = await exactMapping(CSV.section(section), fileOf(content));
  if (!mapping) throw new Error('The header does not have the names of fields.');
  return mapping;
}

/** Imports CSV within this process, on the connections of a server, as the command does. */
export async function importCsvFile(
  { app }: InProcess,
  organizationId: number,
  content: Buffer | string,
  mapping?: Mapping,
  wanted: Partial<CsvImport> = {},
): Promise<CsvOutcome> {
  const leftOut: LeftOut[] = [];
  const importing = { optionValues: [], mapping: mapping ?? (await mappingOfHeader(content)), ...wanted };
  const source = csvImportSource(CSV, importing, fileOf(content));
  try {
    const result = await new ImportService(app.get(DataSource), DATASETS).importRecords(organizationId, source, {
      receiveLeftOut: async (entries) => {
        leftOut.length = 0;
        for await (const each of entries) leftOut.push(each);
      },
    });
    return { result, errors: [], leftOut, notes: readingNotes(result) };
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    return { errors: error.message.split('\n'), leftOut, notes: [] };
  }
}
