import type { EntityManager } from 'typeorm';
import type { Coverage, ErrorLocation, RecordLocation } from '../datasets/coverage';
import type { RawRecord } from '../datasets/dataset';
import { decodeText } from '../datasets/file-text';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { assignColumns, type CsvColumn, type CsvFormat, findMatchColumn, type OptionValue } from './csv-columns';
import { type CellContext, type CsvField, filledPaths, fillsPath, type RecordDraft } from './csv-fields';
import { unescapeFormula } from './csv-formulas';
import { type CsvRow, parseRows } from './csv-rows';
import type { CsvMatch } from './csv-section';
import { openCsvText } from './csv-text';
import { CsvValueError } from './csv-values';
import type { CsvService } from './csv.service';
import { Lookup } from './lookup';

/** A field, and the columns that fill it. */
interface CsvSource {
  field: CsvField;
  inputs: { column: CsvColumn; context: CellContext }[];
}

/** A field that an option of the command fills in every row. */
interface OptionSource extends OptionValue {
  context: CellContext;
}

/**
 * Reads the records of a CSV file in constant memory. As coverage it tells which fields the file has columns for; stored
 * records keep the others.
 */
export class CsvRecords implements Coverage {
  readonly isPartial = true;
  readonly onDuplicate: CsvFormat['onDuplicate'];
  readonly match: CsvMatch | undefined;
  /** The columns of the file, once its header has been read. */
  columns: CsvColumn[] = [];
  private sources: CsvSource[] = [];
  private optionSources: OptionSource[] = [];
  private matchColumn: CsvColumn | undefined;

  /** @param manager finds the records that cells refer to */
  constructor(
    private readonly csv: CsvService,
    private readonly format: CsvFormat,
    private readonly organizationId: number,
    private readonly manager: EntityManager,
    private readonly issues: IssueCollector,
  ) {
    this.onDuplicate = format.onDuplicate;
    this.match = format.match ? csv.definition(format.section).matches?.[format.match] : undefined;
  }

  /** @throws ImportError if the rest of the file cannot be read */
  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawRecord> {
    const { skipLines, delimiter, encoding } = this.format;
    const text = await openCsvText(decodeText(chunks, encoding), skipLines, delimiter);
    let header: string[] | undefined;
    for await (const row of parseRows(text)) {
      if (header) {
        const record = this.readRow(row, header);
        if (record) yield record;
      } else {
        header = row.cells;
        await this.readHeader(header, row.line);
      }
    }
    if (!header) throw importError('The file is empty.');
  }

  providesField = (path: string): boolean =>
    [...this.sources, ...this.optionSources].some(({ field }) => fillsPath(field, path));

  mergeSql(path: string, stored: string, imported: string): string {
    const fields = this.sources.map(({ field }) => field);
    const parts = fields.filter((field) => field.mergeSql && field.paths?.includes(path));
    const hasWholeValue = fields.some(({ name }) => name === path);
    if (parts.length === 0 || hasWholeValue) return imported;
    // Fields that are merged alike, such as all kinds of phone numbers, are merged once.
    const merges = new Set(parts.map(({ mergeSql }) => mergeSql));
    return [...merges].reduce((merged, merge) => merge?.(merged, imported) ?? merged, stored);
  }

  get matchPath(): string | undefined {
    const field = this.matchColumn?.field;
    return field && filledPaths(field)[0];
  }

  locateError({ line = null }: RecordLocation, path: string): ErrorLocation {
    const fills = ({ field }: Pick<CsvSource, 'field'>): boolean => fillsPath(field, path);
    const source = this.sources.find(fills);
    const column = source?.inputs[0]?.column;
    const field = source?.field ?? this.optionSources.find(fills)?.field;
    return {
      line,
      column: column?.name ?? null,
      path: field?.name ?? path,
      order: cellOrder(line, column?.index),
      // If the stored value cannot be formatted as a cell, the cell has another value, which is not known here.
      isValueHidden: field && !field.format,
    };
  }

  private async readHeader(header: string[], line: number): Promise<void> {
    const { section, match, optionValues } = this.format;
    this.columns = assignColumns(this.csv, this.format, header, line, this.issues);
    // A field may build on what earlier fields have put into the record, so their order is kept.
    for (const field of this.csv.fields(section)) {
      const columns = this.columns.filter((column) => column.field === field);
      if (columns.length === 0) continue;
      const lookup = await this.loadLookup(field);
      const inputs = columns.map((column) => ({ column, context: this.contextOf(column.name, lookup) }));
      this.sources.push({ field, inputs });
    }
    for (const optionValue of optionValues) this.optionSources.push(await this.optionSourceOf(optionValue));
    if (match && this.match) this.matchColumn = findMatchColumn(this.columns, match, this.match);
  }

  private async loadLookup({ references }: CsvField): Promise<Lookup | undefined> {
    return references && (await Lookup.load(this.manager, this.organizationId, references));
  }

  private contextOf(column: string, lookup?: Lookup): CellContext {
    const { dateTimes, raw } = this.format;
    return { organizationId: this.organizationId, column, dateTimes, raw, lookup };
  }

  /** @throws ImportError if the value of the option cannot be read */
  private async optionSourceOf(optionValue: OptionValue): Promise<OptionSource> {
    const context = this.contextOf('', await this.loadLookup(optionValue.field));
    const source = { ...optionValue, context };
    try {
      parseOptionValue({}, source);
    } catch (error) {
      if (!(error instanceof CsvValueError)) throw error;
      throw importError(`--${optionValue.option}: ${error.message}`);
    }
    return source;
  }

  /** The record of a row, whose errors are reported; undefined if the row is no record. */
  private readRow(row: CsvRow, header: string[]): RawRecord | undefined {
    const { cells, line } = row;
    const { section } = this.format;
    if (cells.length === 1 && header.length > 1) {
      this.issues.add(singleCellIssue(row, header));
      return undefined;
    }
    const record: RecordDraft = {};
    const issues = strayCellIssues(row, header);
    const reportedPaths: string[] = [];
    for (const source of this.sources) {
      const found = this.parseCells(record, source, row);
      if (found.length === 0) continue;
      issues.push(...found);
      reportedPaths.push(...filledPaths(source.field));
    }
    if (this.matchColumn?.field && (cells[this.matchColumn.index] ?? '').trim() === '') {
      issues.push(this.missingMatchIssue(this.matchColumn, line));
      reportedPaths.push(...filledPaths(this.matchColumn.field));
    }
    for (const source of this.optionSources) parseOptionValue(record, source);
    record[this.csv.keyOf(section)] ??= this.csv.definition(section).generateId?.();
    this.issues.add(...issues);
    return { section, record, line, reportedPaths: issues.length > 0 ? reportedPaths : undefined };
  }

  /**
   * Parses the cells of a field into a record. A list takes all its columns. Of the columns of another field a row may fill
   * one, or several with the same value.
   */
  private parseCells(draft: RecordDraft, { field, inputs }: CsvSource, { cells, line }: CsvRow): LocatedIssue[] {
    const issues: LocatedIssue[] = [];
    let filled: { column: CsvColumn; cell: string } | undefined;
    for (const [index, { column, context }] of inputs.entries()) {
      const raw = cells[column.index] ?? '';
      const cell = this.format.raw ? raw : unescapeFormula(raw);
      const isLast = index === inputs.length - 1;
      const mayBeSkipped = !field.isList && inputs.length > 1 && cell.trim() === '';
      if (mayBeSkipped && (filled || !isLast)) continue;
      const issueOf = (message: string, expected: string): LocatedIssue => ({
        line,
        column: column.name,
        path: field.name,
        value: raw,
        expected,
        message,
        order: cellOrder(line, column.index),
      });
      if (filled && filled.cell.trim() !== cell.trim()) {
        const names = `${quote(filled.column.name)} and ${quote(column.name)}`;
        const values = `${quoteShortened(filled.cell)} and ${quoteShortened(cell)}`;
        issues.push(issueOf(`${names} disagree: ${values}.`, 'the same value in both columns, or only in one'));
      }
      try {
        field.parseInto(draft, cell, context);
      } catch (error) {
        if (!(error instanceof CsvValueError)) throw error;
        issues.push(issueOf(error.message, error.expected));
      }
      if (!field.isList) filled ??= { column, cell };
    }
    return issues;
  }

  private missingMatchIssue({ name, index, field }: CsvColumn, line: number): LocatedIssue {
    const noun = this.match?.noun ?? 'a value';
    return {
      line,
      column: name,
      path: field?.name ?? null,
      value: null,
      expected: noun,
      message: `Empty, but --match ${this.format.match} needs ${noun} in every row.`,
      order: cellOrder(line, index),
    };
  }
}

/** Parses the value of an option as a JSON array, in which it counts as one entry whatever it contains. */
const parseOptionValue = (draft: RecordDraft, { field, value, context }: OptionSource): void =>
  field.parseInto(draft, field.isList ? JSON.stringify([value]) : value, context);

/** A row has fewer columns than this. */
const MAX_COLUMNS = 2 ** 25;

/** Sorts the errors of cells in the order of the file. */
const cellOrder = (line: number | null, columnIndex = -1): number => (line ?? 0) + (columnIndex + 1) / MAX_COLUMNS;

function singleCellIssue({ cells, line }: CsvRow, header: string[]): LocatedIssue {
  const message = `Only one cell in a file of ${header.length} columns. Is this a footer, or is the whole row quoted?`;
  return { ...NO_LOCATION, line, value: cells[0], expected: `${header.length} cells`, message };
}

/** The errors of a row with values beyond the header, or in columns without a name. */
function strayCellIssues({ cells, line }: CsvRow, header: string[]): LocatedIssue[] {
  const issues: LocatedIssue[] = [];
  for (const [index, name] of header.entries()) {
    const value = cells[index] ?? '';
    if (name.trim() !== '' || value.trim() === '') continue;
    const message = `Column ${index + 1} has no name in the header, but the value ${quoteShortened(value)} here.`;
    issues.push({
      ...NO_LOCATION,
      line,
      value,
      expected: 'a name in the header',
      message,
      order: cellOrder(line, index),
    });
  }
  const surplusIndex = cells.findIndex((cell, index) => index >= header.length && cell.trim() !== '');
  if (surplusIndex < 0) return issues;
  const columns = header.length === 1 ? '1 column' : `${header.length} columns`;
  const message = `This row has ${cells.length} cells, but the header has ${columns}.`;
  const order = cellOrder(line, surplusIndex);
  issues.push({ ...NO_LOCATION, line, value: cells[surplusIndex], expected: `${header.length} cells`, message, order });
  return issues;
}
