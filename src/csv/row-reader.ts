import { isStorableText } from '../api/text';
import { unstorableText } from '../datasets/expectation';
import type { LocatedIssue } from '../datasets/import-error';
import { NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { mappedName } from './column-mappings';
import { isLeftOutList, LEFT_OUT_COLUMNS } from './csv-columns';
import { type CellContext, type CsvField, type RecordDraft, skipOption } from './csv-fields';
import type { CsvColumn, OptionValue } from './csv-format';
import { plainText } from './csv-formulas';
import type { CsvRow } from './csv-parser';
import { CsvValueError } from './csv-values';
import { cellOrder } from './row-issues';

/** A field, and the columns that fill it. */
export interface CsvSource {
  field: CsvField;
  inputs: { column: CsvColumn; context: CellContext }[];
}

/** A field that an option of the command sets in every row. */
export interface OptionSource extends OptionValue {
  context: CellContext;
}

/** A record, and the errors of the cells that it was read from. */
export interface ReadRow {
  record: RecordDraft;
  issues: LocatedIssue[];
}

/** The columns of a file and the fields that they fill. */
export interface RowLayout {
  header: string[];
  sources: CsvSource[];
  optionSources: OptionSource[];
  /** Whether cells that a spreadsheet would run as formulas have no apostrophe before them. */
  raw: boolean;
}

/** Reads rows into records. */
export class RowReader {
  /** Index of the first column of the file itself. */
  readonly firstColumn: number;
  private readonly namelessColumns: number[];

  constructor(private readonly layout: RowLayout) {
    const { header } = layout;
    this.firstColumn = isLeftOutList(header) ? LEFT_OUT_COLUMNS.length : 0;
    this.namelessColumns = [...header.keys()].filter((index) => header[index]?.trim() === '');
  }

  /** @param emptied indexes of columns whose cells count as empty */
  read(row: CsvRow, emptied: ReadonlySet<number>): ReadRow {
    const record: RecordDraft = {};
    const issues: LocatedIssue[] = [];
    for (const source of this.layout.sources) {
      issues.push(...this.parseCells(record, source, row, emptied));
    }
    for (const source of this.layout.optionSources) parseOptionValue(record, source);
    return { record, issues };
  }

  /** The text of a cell. If another column has the time of its date, the text includes it. */
  cellOf({ index, timeIndex }: CsvColumn, cells: string[]): string {
    const cell = cells[index] ?? '';
    const time = timeIndex === undefined ? '' : (cells[timeIndex] ?? '').trim();
    return time === '' || cell.trim() === '' ? cell : `${cell.trim()} ${time}`;
  }

  /** The issues of values in columns without a name. */
  namelessCellIssues({ cells, line }: CsvRow): LocatedIssue[] {
    return this.namelessColumns.flatMap((index) => {
      const value = cells[index] ?? '';
      if (value.trim() === '') return [];
      const message = `Column ${index + 1} has no name in the header, but the value ${quoteShortened(value)} here. Give it a name.`;
      const order = cellOrder(line, index);
      return [
        { ...NO_LOCATION, line, value, expected: 'a name in the header', message, order, kind: `column ${index}` },
      ];
    });
  }

  /**
   * Parses the cells of a field into a record. A list uses all its columns. For any other field, several columns of a row
   * may have a value only if it is the same.
   */
  private parseCells(
    draft: RecordDraft,
    { field, inputs }: CsvSource,
    row: CsvRow,
    emptied: ReadonlySet<number>,
  ): LocatedIssue[] {
    const issues: LocatedIssue[] = [];
    let filled: { column: CsvColumn; cell: string } | undefined;
    for (const [index, { column, context }] of inputs.entries()) {
      const original = emptied.has(column.index) ? '' : this.cellOf(column, row.cells);
      const cell = this.layout.raw ? original : plainText(original);
      const isLast = index === inputs.length - 1;
      const mayBeSkipped = !field.isList && inputs.length > 1 && cell.trim() === '';
      if (mayBeSkipped && (filled || !isLast)) continue;
      const issue = cellIssue(field, column, row.line, original);
      if (filled && filled.cell.trim() !== cell.trim()) {
        issues.push({ ...issue, ...disagreement(filled.column, filled.cell, column, cell) });
        continue;
      }
      if (!isStorableText(cell)) {
        issues.push({ ...issue, ...unstorableText(quoteShortened(cell)), kind: 'unstorable' });
        continue;
      }
      try {
        field.parseInto(draft, cell, context);
      } catch (error) {
        if (!(error instanceof CsvValueError)) throw error;
        const { message, expected, fix, kind } = error;
        issues.push({ ...issue, message, expected, fix, kind });
      }
      if (!field.isList) filled ??= { column, cell };
    }
    return issues;
  }
}

/** The part of an issue that locates a cell. */
const cellIssue = (field: CsvField, column: CsvColumn, line: number, value: string) => ({
  line,
  column: column.name,
  path: field.name,
  value,
  order: cellOrder(line, column.index),
});

function disagreement(
  one: CsvColumn,
  oneCell: string,
  other: CsvColumn,
  otherCell: string,
): Pick<LocatedIssue, 'message' | 'expected' | 'kind' | 'fix'> {
  const fix = skipOption(mappedName(other));
  const names = `${quote(mappedName(one))} and ${quote(mappedName(other))}`;
  const values = `${quoteShortened(oneCell)} and ${quoteShortened(otherCell)}`;
  const message = `${names} disagree: ${values}. Keep the first with ${fix}.`;
  return {
    message,
    expected: 'the same value in both columns, or only in one',
    kind: `disagrees with ${one.index}`,
    fix,
  };
}

/** Parses the value of an option as a list of one entry, whatever it contains. */
export const parseOptionValue = (draft: RecordDraft, { field, value, context }: OptionSource): void =>
  field.parseInto(draft, field.references ? JSON.stringify([value]) : value, context);
