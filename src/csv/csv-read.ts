import { isStorableText } from '../fields/text';
import { unstorableText } from '../datasets/expectation';
import { type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import type { ImportSource, LeftOut, ReadRecord } from '../datasets/import-plan';
import { quote, quoteShortened } from '../datasets/quote';
import { RecordCheck } from '../datasets/record-check';
import { mappedName } from './column-mappings';
import { isIdentifier, isLeftOutList, LEFT_OUT_COLUMNS, otherNumberReason } from './csv-columns';
import { type CellContext, type CsvField, filledPaths, type RecordDraft, skipOption } from './csv-fields';
import type { CsvColumn, CsvFormat } from './csv-format';
import type { CsvRow } from './csv-parser';
import { type CsvPlan, type CsvSource, parseOptionValue, planCsv } from './csv-plan';
import { type OpenFile, readRows } from './csv-survey';
import { CsvValueError, trimInvisible } from './csv-values';
import type { CsvService } from './csv.service';
import { blankIssue, cellOrder, isPartOfRecord, rowIssue } from './row-issues';

/** The import of a CSV file, which is read twice: the meaning of a column may depend on its last value. */
export const csvSource = (csv: CsvService, format: CsvFormat, open: OpenFile): ImportSource<CsvPlan> => ({
  plan: (context) => planCsv(csv, format, open, context),
  read: (plan) => readCsv(csv, plan, open),
});

/** Reads the records of a file in constant memory. */
async function* readCsv(csv: CsvService, plan: CsvPlan, open: OpenFile): AsyncGenerator<Iterable<ReadRecord>> {
  const reader = new CsvRowReader(csv, plan);
  const onProblem = () => undefined; // The plan has reported it.
  for await (const { rows } of readRows(open, plan.reading, onProblem)) yield reader.readAll(rows);
}

/** A record, and the errors of the cells that it was read from. */
interface ParsedRow {
  record: RecordDraft;
  issues: LocatedIssue[];
}

/** Reads rows into records. */
class CsvRowReader {
  /** Index of the first column of the file itself. */
  private readonly firstColumn: number;
  private readonly namelessColumns: number[];
  private readonly check: RecordCheck;
  private index = 0;

  constructor(
    private readonly csv: CsvService,
    private readonly plan: CsvPlan,
  ) {
    const { names } = plan.survey.header;
    this.firstColumn = isLeftOutList(names) ? LEFT_OUT_COLUMNS.length : 0;
    this.namelessColumns = [...names.keys()].filter((index) => names[index]?.trim() === '');
    this.check = new RecordCheck(csv.datasets, plan);
  }

  *readAll(rows: Iterable<CsvRow>): Generator<ReadRecord> {
    for (const row of rows) {
      if (!this.plan.isSelected(row.cells)) continue;
      const record = this.read(row);
      if (record) yield record;
    }
  }

  /** Undefined for a row that has no text of the file itself. */
  private read(row: CsvRow): ReadRecord | undefined {
    const cells = this.firstColumn === 0 ? row.cells : row.cells.slice(this.firstColumn);
    if (cells.every((cell) => cell.trim() === '') && row.problem === undefined) return undefined;
    this.plan.repeatedHours.beginRow();
    const noRecord =
      rowIssue(row, this.plan.survey.header.names) ??
      (this.plan.isLenient || !this.isBlank(row) ? undefined : blankIssue(row));
    if (noRecord) {
      const { message: reason } = noRecord;
      return this.plan.isLenient
        ? { issues: [], leftOut: [{ line: row.line, column: null, value: null, reason, cells }] }
        : { issues: [noRecord], leftOut: [] };
    }
    const { record, location, found, problem } = this.recover(row);
    if (!this.plan.isLenient) {
      // If a value of the match is invalid, that has already been reported.
      const isReported = problem === undefined || !this.isMatchBlank(row);
      return { location, record, issues: isReported ? found : [...found, problem], leftOut: [] };
    }
    const leftOut = [...this.skippedValues(row), ...found.map((issue) => leftOutValue(row.line, issue))];
    if (problem) leftOut.push({ line: row.line, column: null, value: null, reason: problem.message, cells });
    return { location, record, issues: [], leftOut, cells };
  }

  /** Whether a row says nothing of somebody, as a line of totals does. */
  private isBlank({ cells }: CsvRow): boolean {
    const { usable, identifiers } = this.csv.definition(this.plan.format.section);
    const { columns } = this.plan;
    if (!usable || !columns.some(({ field }) => field && usable.fieldNames.test(field.name))) return false;
    const filled = columns.filter(({ index }) => (cells[index] ?? '').trim() !== '');
    const isKey = ({ field }: CsvColumn): boolean => field !== undefined && isIdentifier(identifiers, field);
    const isPart = (column: CsvColumn): boolean =>
      isPartOfRecord(column, cells[column.index] ?? '', usable, filled.length);
    return !filled.some(isPart) && (filled.length < 2 || !filled.some(isKey));
  }

  /**
   * Reads a row, each time without the cells that turned out to be invalid, until the rest is valid. A lenient import stores
   * the rest. A strict one only checks it, so that the first attempt reports every error in the file.
   * @returns the errors of cells that were found, and why the row is no record nevertheless
   */
  private recover(
    row: CsvRow,
  ): Pick<ReadRecord, 'record' | 'location'> & { found: LocatedIssue[]; problem?: LocatedIssue } {
    const emptied = new Set<number>();
    const found = this.namelessCellIssues(row);
    const location = { section: this.plan.format.section, index: this.index++, line: row.line };
    for (;;) {
      const parsed = this.parse(row, emptied);
      let { issues } = parsed;
      if (issues.length === 0) {
        const problem = this.unusable(parsed.record, row);
        if (problem) return { found, problem };
        const checked = this.check.check(location, this.completed(parsed.record));
        if (checked.issues.length === 0) return { location, record: checked.record, found };
        ({ issues } = checked);
      }
      for (const issue of issues) {
        const filled = this.filledCells(issue, emptied);
        // Without cells, the value is that of an option, or a required one that was left out and has been reported.
        const isOfField = this.plan.sources.some(({ field }) => field.name === issue.path);
        if (filled.length > 0 || !isOfField) found.push(issue);
        if (filled.length === 0) return { found, problem: this.plan.isLenient ? issue : undefined };
        for (const index of filled) emptied.add(index);
      }
    }
  }

  /** The cells that an issue may be about: the one in its column, or else all that fill the same field. */
  private filledCells({ column: name, path }: LocatedIssue, emptied: ReadonlySet<number>): number[] {
    const { sources } = this.plan;
    const source = sources.find(({ field }) => field.name === path);
    if (!source) return [];
    const paths = filledPaths(source.field);
    const columnsOf = ({ inputs }: CsvSource): CsvColumn[] =>
      inputs.map(({ column }) => column).filter(({ index }) => !emptied.has(index));
    const own = columnsOf(source).filter((column) => name === null || column.name === name);
    const sharing = sources.filter(({ field }) => filledPaths(field).some((each) => paths.includes(each)));
    return (own.length > 0 ? own : sharing.flatMap(columnsOf)).map(({ index }) => index);
  }

  /** Why a record that can be read cannot be used. */
  private unusable(record: RecordDraft, row: CsvRow): LocatedIssue | undefined {
    const missing = this.missingMatch(record, row.line);
    const { usable } = this.csv.definition(this.plan.format.section);
    if (missing || !this.plan.isLenient || !usable) return missing;
    const hasSuchField = this.plan.sources.some(({ field }) => usable.fieldNames.test(field.name));
    if (!hasSuchField || (usable.isUsable(record) && !this.isBlank(row))) return undefined;
    return { ...blankIssue(row), message: 'Nothing is left by which somebody could be recognized or reached.' };
  }

  /** Every row needs the value that `--match` names. Without the option, a row may lack the ID of another program. */
  private missingMatch(record: RecordDraft, line: number): LocatedIssue | undefined {
    const { matchBy, format } = this.plan;
    const [column] = matchBy?.columns ?? [];
    if (!matchBy || !column || format.match === undefined || matchBy.by.hasKey(record)) return undefined;
    const { noun: expected } = matchBy.by;
    const message = `Empty, but --match ${matchBy.name} needs ${expected} in every row.`;
    const path = column.field?.name ?? null;
    return { line, column: column.name, path, value: null, expected, message, order: cellOrder(line, column.index) };
  }

  private isMatchBlank({ cells }: CsvRow): boolean {
    return (this.plan.matchBy?.columns ?? []).every(({ index }) => (cells[index] ?? '').trim() === '');
  }

  private completed(record: RecordDraft): RecordDraft {
    const { section } = this.plan.format;
    const { complete, generateId } = this.csv.definition(section);
    complete?.(record);
    record[this.csv.keyOf(section)] ??= generateId?.();
    return record;
  }

  /** The values of columns that are skipped although the operator has not asked for that. */
  private skippedValues({ cells, line }: CsvRow): LeftOut[] {
    return this.plan.columns.flatMap(({ index, name, skipReason, type }) => {
      const value = cells[index] ?? '';
      const kind = type && trimInvisible(cells[type.index] ?? '');
      const reason = kind && type.fields.get(kind) === null ? otherNumberReason(kind) : skipReason;
      const isSkipped = reason !== undefined && value.trim() !== '';
      return isSkipped ? [{ line, column: name, value, reason }] : [];
    });
  }

  /** @param emptied indexes of columns whose cells count as empty */
  private parse(row: CsvRow, emptied: ReadonlySet<number>): ParsedRow {
    const record: RecordDraft = {};
    const issues: LocatedIssue[] = [];
    for (const source of this.plan.sources) this.parseCells(record, source, row, emptied, issues);
    for (const source of this.plan.optionSources) parseOptionValue(record, source);
    return { record, issues };
  }

  /** The text of a cell. If another column has the time of its date, the text includes it. */
  private cellOf({ index, timeIndex }: CsvColumn, cells: string[]): string {
    const cell = cells[index] ?? '';
    const time = timeIndex === undefined ? '' : (cells[timeIndex] ?? '').trim();
    return time === '' || cell.trim() === '' ? cell : `${cell.trim()} ${time}`;
  }

  /** The issues of values in columns without a name. */
  private namelessCellIssues({ cells, line }: CsvRow): LocatedIssue[] {
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
   * @param issues takes the errors
   */
  private parseCells(
    draft: RecordDraft,
    { field, inputs }: CsvSource,
    row: CsvRow,
    emptied: ReadonlySet<number>,
    issues: LocatedIssue[],
  ): void {
    const last = inputs.at(-1);
    const isOneOfSeveral = !field.isList && inputs.length > 1;
    let filled: { column: CsvColumn; cell: string } | undefined;
    for (const input of inputs) {
      const { column, context } = input;
      const kind = column.type && column.type.fields.get(trimInvisible(row.cells[column.type.index] ?? ''));
      const cell = emptied.has(column.index) || kind === null ? '' : this.cellOf(column, row.cells);
      if (isOneOfSeveral && cell.trim() === '' && (filled || input !== last)) continue;
      const isOther = filled && filled.cell.trim() !== cell.trim();
      const problem =
        filled && isOther
          ? disagreement(filled.column, filled.cell, column, cell)
          : parseCell(draft, kind ?? field, cell, context);
      if (problem) issues.push({ ...cellIssue(field, column, row.line, cell), ...problem });
      if (!field.isList && problem?.kind !== UNSTORABLE) filled ??= { column, cell };
    }
  }
}

/** What is wrong with a cell. */
type CellProblem = Pick<LocatedIssue, 'message' | 'expected' | 'kind' | 'fix'>;

/** The kind of errors of cells that neither PostgreSQL nor JSON can hold. */
const UNSTORABLE = 'unstorable';

function parseCell(draft: RecordDraft, field: CsvField, cell: string, context: CellContext): CellProblem | undefined {
  if (!isStorableText(cell)) return { ...unstorableText(quoteShortened(cell)), kind: UNSTORABLE };
  try {
    field.parseInto(draft, cell, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    const { message, expected, fix, kind } = error;
    return { message, expected, fix, kind };
  }
}

const leftOutValue = (line: number, { column, value, message: reason }: LocatedIssue): LeftOut => ({
  line,
  column: column ?? '',
  value: String(value ?? ''),
  reason,
});

/** The part of an issue that locates a cell. */
const cellIssue = (field: CsvField, column: CsvColumn, line: number, value: string) => ({
  line,
  column: column.name,
  path: field.name,
  value,
  order: cellOrder(line, column.index),
});

function disagreement(one: CsvColumn, oneCell: string, other: CsvColumn, otherCell: string): CellProblem {
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
