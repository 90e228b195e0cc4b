import type { RawRecord } from '../datasets/dataset';
import type { LocatedIssue } from '../datasets/import-error';
import { filledPaths, type RecordDraft } from './csv-fields';
import type { CsvColumn } from './csv-format';
import type { CsvRow } from './csv-parser';
import type { CsvSource, RowReader } from './row-reader';

/** How to report the parts of a row that cannot be read. */
export interface RowRecoveryOptions {
  section: string;
  /** Whether the row may still be skipped when it is a record, and must be known then. */
  keepsCells: boolean;
  reader: RowReader;
  sources: CsvSource[];
  /** Receives the issue of a cell, which counts as empty from then on. */
  onInvalidCell: (issue: LocatedIssue) => void;
  /** Receives the reason why a row is no record. */
  onInvalidRow: (issue: Pick<LocatedIssue, 'message'>) => void;
  complete: (record: RecordDraft) => RecordDraft;
  /** Why a record that can be read cannot be used. */
  findProblem: (record: RecordDraft) => LocatedIssue | undefined;
}

/**
 * Reads a row, each time without the cells that turned out to be invalid, until the rest is valid. A lenient import stores
 * the rest. A strict one only checks it, so that the first attempt reports every error in the file.
 */
export class RowRecovery {
  /** Indexes of columns whose cells are left out. */
  private readonly emptied = new Set<number>();

  constructor(
    private readonly row: CsvRow,
    private readonly options: RowRecoveryOptions,
  ) {}

  /** The record of the row; undefined if it is none. */
  read(invalid: LocatedIssue[] = []): RawRecord | undefined {
    const { section, reader, keepsCells, findProblem, complete } = this.options;
    let issues = invalid;
    let record: RecordDraft;
    do {
      for (const issue of issues) if (!this.leaveOut(issue)) return undefined;
      ({ record, issues } = reader.read(this.row, this.emptied));
    } while (issues.length > 0);
    const problem = findProblem(record);
    if (problem) {
      this.options.onInvalidRow(problem);
      return undefined;
    }
    return {
      section,
      record: complete(record),
      line: this.row.line,
      sourceCells: keepsCells ? this.row.cells.slice(reader.firstColumn) : undefined,
      withoutInvalid: (found) => this.read(found),
    };
  }

  /** @returns whether there was a cell to leave out */
  private leaveOut(issue: LocatedIssue): boolean {
    const filled = this.filledCells(issue);
    if (filled.length > 0) {
      for (const index of filled) this.emptied.add(index);
      this.options.onInvalidCell(issue);
      return true;
    }
    // The value is that of an option, or it is a required one that was left out and has been reported.
    if (!this.options.sources.some(({ field }) => field.name === issue.path)) this.options.onInvalidCell(issue);
    this.options.onInvalidRow(issue);
    return false;
  }

  /** The cells that an issue may be about: the one in its column, or else all that fill the same field. */
  private filledCells({ column: name, path }: LocatedIssue): number[] {
    const { sources } = this.options;
    const source = sources.find(({ field }) => field.name === path);
    if (!source) return [];
    const paths = filledPaths(source.field);
    const columnsOf = ({ inputs }: CsvSource): CsvColumn[] =>
      inputs.map(({ column }) => column).filter(({ index }) => !this.emptied.has(index));
    const own = columnsOf(source).filter((column) => name === null || column.name === name);
    const sharing = sources.filter(({ field }) => filledPaths(field).some((each) => paths.includes(each)));
    return (own.length > 0 ? own : sharing.flatMap(columnsOf)).map(({ index }) => index);
  }
}
