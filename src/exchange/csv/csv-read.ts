import { isStorableText } from '../../fields/text';
import { unstorableText } from '../datasets/expectation';
import type { LocatedIssue } from '../datasets/import-error';
import type { ImportSource, ReadRecord } from '../datasets/import-plan';
import { quote, quoteShortened } from '../datasets/quote';
import { RecordCheck } from '../datasets/record-check';
import { mappedName } from './column-mappings';
import { isIdentifier, otherNumberReason } from './csv-columns';
import { type CellContext, type CsvField, type RecordDraft, skipOption } from './csv-fields';
import type { CsvColumn, CsvFormat } from './csv-options';
import { openCsv, type OpenFile } from './delimiter-and-header';
import type { CsvRow } from './csv-parser';
import { type CsvPlan, type CsvSource, planCsv } from './csv-plan';
import { CsvValueError, trimInvisible } from './csv-values';
import type { CsvService } from './csv.service';
import { blankIssue, cellOrder, isPartOfRecord, rowIssue } from './row-issues';

/** The import of a CSV file, which is read twice: the meaning of a column may depend on its last value. */
export const csvSource = (csv: CsvService, format: CsvFormat, open: OpenFile): ImportSource<CsvPlan> => ({
  plan: (context) => planCsv(csv, format, open, context),
  read: (plan) => readCsv(plan, new RecordCheck(csv.datasets, plan), open),
});

/** Reads the records of a file in constant memory. */
async function* readCsv(plan: CsvPlan, check: RecordCheck, open: OpenFile): AsyncGenerator<Iterable<ReadRecord>> {
  const reader = new CsvRowReader(plan, check);
  const { parts } = await openCsv(open, plan.format, plan.names);
  for await (const rows of parts) yield reader.readAll(rows);
}

/** Reads rows into records. */
class CsvRowReader {
  private index = 0;

  constructor(
    private readonly plan: CsvPlan,
    private readonly check: RecordCheck,
  ) {}

  *readAll(rows: Iterable<CsvRow>): Generator<ReadRecord> {
    const { isSelected, isLenient, survey } = this.plan;
    for (const row of rows) {
      if (row.line >= (survey.endLine ?? Infinity)) return;
      if (isSelected(row.cells)) yield isLenient ? { ...this.read(row), cells: row.cells } : this.read(row);
    }
  }

  /** Whether a row says nothing of somebody, as a line of totals does. */
  private isBlank({ cells }: CsvRow): boolean {
    const { columns, section, usable } = this.plan;
    if (!usable) return false;
    const { identifiers } = section.definition;
    const filled = columns.filter(({ index }) => textAt(cells, index) !== '');
    const isKey = ({ field }: CsvColumn): boolean => field !== undefined && isIdentifier(identifiers, field);
    const isPart = (column: CsvColumn): boolean =>
      isPartOfRecord(column, cells[column.index] ?? '', usable, filled.length);
    return !filled.some(isPart) && (filled.length < 2 || !filled.some(isKey));
  }

  /**
   * Reads a row without the cells that turn out to be invalid. A lenient import stores the rest. A strict one only checks it,
   * so that the first attempt reports every error in the file.
   */
  private read(row: CsvRow): ReadRecord {
    const { format, sources, isLenient, survey, repeatedHours } = this.plan;
    const noRecord = rowIssue(row, survey.header.names) ?? (!isLenient && this.isBlank(row) && blankIssue(row.line));
    if (noRecord) return { issues: [], problem: noRecord };
    const location = { section: format.section, index: this.index++, line: row.line };
    const issues = isLenient ? this.skippedValues(row) : [];
    const emptied = new Set<number>();
    const { count } = repeatedHours;
    for (;;) {
      // The times of the row may have been counted by an earlier attempt.
      repeatedHours.count = count;
      const draft = this.parse(row, emptied, issues);
      const problem = this.unusable(draft, row, emptied);
      if (problem) return { issues, problem };
      const { record, issues: found } = this.check.check(location, this.completed(draft));
      if (found.length === 0) return { location, record, issues };
      for (const issue of found) {
        const { inputs = [] } = sources.find(({ field }) => field.name === issue.path) ?? {};
        const filled = filledColumns(inputs, issue, row.cells, emptied);
        // Without cells, the value is that of an option, or a required one that was left out and has been reported.
        if (filled.length > 0 || inputs.length === 0)
          issues.push({ ...issue, column: filled[0]?.name ?? issue.column });
        if (filled.length === 0) return { issues, problem: isLenient ? issue : undefined };
        for (const { index } of filled) emptied.add(index);
      }
    }
  }

  /** Why a record that can be read cannot be used. */
  private unusable(record: RecordDraft, row: CsvRow, emptied: Set<number>): LocatedIssue | undefined {
    const { isLenient, usable } = this.plan;
    const missing = this.missingMatch(record, row.line, emptied);
    if (missing || !isLenient || !usable) return missing;
    if (usable.isUsable(record) && !this.isBlank(row)) return undefined;
    return { ...blankIssue(row.line), message: 'Nothing is left by which somebody could be recognized or reached.' };
  }

  /** Every row needs the value that `--match` names. Without the option, a row may lack the ID of another program. */
  private missingMatch(record: RecordDraft, line: number, emptied: Set<number>): LocatedIssue | undefined {
    const { matchBy, format, isLenient } = this.plan;
    const [column] = matchBy?.columns ?? [];
    if (!matchBy || !column || format.match === undefined || matchBy.by.hasKey(record)) return undefined;
    // A value that is invalid is reported as such.
    if (!isLenient && matchBy.columns.some(({ index }) => emptied.has(index))) return undefined;
    const { noun: expected } = matchBy.by;
    const message = `Empty, but --match ${matchBy.name} needs ${expected} in every row.`;
    return { ...cellIssue(column, line, null), expected, message };
  }

  private completed(record: RecordDraft): RecordDraft {
    const { definition, key } = this.plan.section;
    definition.complete?.(record);
    record[key] ??= definition.generateId?.();
    return record;
  }

  /** The values of columns that are skipped although the operator has not asked for that. */
  private skippedValues({ cells, line }: CsvRow): LocatedIssue[] {
    return this.plan.columns.flatMap((column) => {
      const value = cells[column.index] ?? '';
      const message = isOtherNumber(column, cells) ? otherNumberReason(kindOf(column, cells)) : column.skipReason;
      const isSkipped = message !== undefined && value.trim() !== '';
      return isSkipped ? [{ ...cellIssue(column, line, value), expected: '', message }] : [];
    });
  }

  /**
   * @param emptied indexes of columns whose cells count as empty; takes those of invalid cells
   * @param issues takes the errors
   */
  private parse(row: CsvRow, emptied: Set<number>, issues: LocatedIssue[]): RecordDraft {
    const draft: RecordDraft = {};
    for (const { field, inputs, option } of this.plan.sources) {
      if (option) field.parseInto(draft, option.value, option.context);
      else this.parseCells(draft, field, inputs, row, emptied, issues);
    }
    return draft;
  }

  /**
   * Parses the cells of a field into a record. A list uses all its columns. For any other field, several columns of a row
   * may have a value only if it is the same.
   */
  private parseCells(
    draft: RecordDraft,
    field: CsvField,
    inputs: CsvSource['inputs'],
    { cells, line }: CsvRow,
    emptied: Set<number>,
    issues: LocatedIssue[],
  ): void {
    const last = inputs.at(-1);
    const isOneOfSeveral = !field.isList && inputs.length > 1;
    let filled: { column: CsvColumn; cell: string } | undefined;
    for (const input of inputs) {
      const { column, context } = input;
      const isEmptied = emptied.has(column.index) || isOtherNumber(column, cells);
      const cell = isEmptied ? '' : cellOf(column, cells);
      const ofKind = column.type?.fields.get(kindOf(column, cells)) ?? field;
      if (isOneOfSeveral && cell.trim() === '' && (filled || input !== last)) continue;
      const isOther = filled && filled.cell.trim() !== cell.trim();
      const problem =
        filled && isOther
          ? disagreement(filled.column, filled.cell, column, cell)
          : parseCell(draft, ofKind, cell, context);
      if (problem) {
        issues.push({ ...cellIssue(column, line, cell), ...problem });
        emptied.add(column.index);
        if (!isOther) ofKind.parseInto(draft, '', context);
      }
      if (!field.isList && !problem) filled ??= { column, cell };
    }
  }
}

/** The columns of a field whose cells an issue may be about: the one that it names, or else all of them. */
function filledColumns(
  inputs: CsvSource['inputs'],
  { column: name }: LocatedIssue,
  cells: string[],
  emptied: Set<number>,
): CsvColumn[] {
  const columns = inputs.map(({ column }) => column).filter(({ index }) => !emptied.has(index));
  const withText = columns.filter(({ index }) => textAt(cells, index) !== '');
  // A blank cell is invalid, too, if the field needs a value.
  const filled = withText.length > 0 ? withText : columns;
  const named = filled.filter((column) => column.name === name);
  return named.length > 0 ? named : filled;
}

/** The text of a cell without blanks around it; empty if the row or the file has no such cell. */
const textAt = (cells: string[], index = -1): string => (cells[index] ?? '').trim();

/** What another column says of the kind of a cell. */
const kindOf = ({ type }: CsvColumn, cells: string[]): string => trimInvisible(textAt(cells, type?.index));

/** Whether a row has a number at which nobody answers in a column of numbers. */
const isOtherNumber = (column: CsvColumn, cells: string[]): boolean =>
  column.type?.fields.get(kindOf(column, cells)) === null;

/** The text of a cell. If another column has the time of its date, the text includes it. */
function cellOf({ index, timeIndex }: CsvColumn, cells: string[]): string {
  const cell = cells[index] ?? '';
  const time = textAt(cells, timeIndex);
  return time === '' || cell.trim() === '' ? cell : `${cell.trim()} ${time}`;
}

/** What is wrong with a cell. */
type CellProblem = Pick<LocatedIssue, 'message' | 'expected' | 'kind' | 'fix'>;

function parseCell(draft: RecordDraft, field: CsvField, cell: string, context: CellContext): CellProblem | undefined {
  if (!isStorableText(cell)) return { ...unstorableText(quoteShortened(cell)), kind: 'unstorable' };
  try {
    field.parseInto(draft, cell, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    return { ...error, message: error.message };
  }
}

/** The part of an issue that locates a cell. */
const cellIssue = ({ name, field, index }: CsvColumn, line: number, value: string | null) => ({
  line,
  column: name,
  path: field?.name ?? null,
  value,
  order: cellOrder(line, index),
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
