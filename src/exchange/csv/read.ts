import { isStorableText } from '../../fields/text';
import { unstorableText } from '../datasets/expectation';
import { type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import type { ImportSource, ReadRecord } from '../datasets/import-plan';
import { hasInvalidBytes } from '../datasets/open';
import { quote, quoteShortened } from '../datasets/quote';
import { RecordCheck } from '../datasets/record-check';
import type { CellContext, CsvField, RecordDraft } from './csv-fields';
import { type CsvRow, ROW_EXPECTED } from './csv-parser';
import { CsvValueError, trimInvisible } from './csv-values';
import type { CsvService } from './csv.service';
import type { CsvColumn } from './mapping';
import type { OpenFile } from './open';
import { cellOrder, type CsvImport, type CsvPlan, type FilledField, planCsv } from './plan';

/** The import of a CSV file, which is read once. */
export const csvImportSource = (csv: CsvService, wanted: CsvImport, open: OpenFile): ImportSource<CsvPlan> => ({
  plan: (context) => planCsv(csv, wanted, open, context),
  read: (plan) => readCsv(plan, new RecordCheck(csv.datasets, plan)),
});

/** Reads the records of a file in constant memory. */
async function* readCsv(plan: CsvPlan, check: RecordCheck): AsyncGenerator<Iterable<ReadRecord>> {
  const reader = new RowReader(plan, check);
  for await (const rows of plan.file.parts) yield reader.readAll(rows);
}

/** What one attempt to read a row gives. */
interface Attempt {
  draft: RecordDraft;
  record?: object;
  issues: LocatedIssue[];
  /** The indexes of the columns whose cells are invalid. */
  invalid: Set<number>;
}

/** Reads rows into records, as the mapping says. */
class RowReader {
  private readonly selecting: CsvColumn[];
  private readonly unnamed: CsvColumn[];

  constructor(
    private readonly plan: CsvPlan,
    private readonly check: RecordCheck,
  ) {
    this.selecting = plan.columns.filter(({ only }) => only !== undefined);
    this.unnamed = plan.columns.filter(({ name, isUnnamed }) => isUnnamed && name === '');
  }

  *readAll(rows: Iterable<CsvRow>): Generator<ReadRecord> {
    const { counts, isLenient } = this.plan;
    for (const row of rows) {
      const problem = this.rowProblem(row);
      const isSelected =
        problem !== undefined || this.selecting.every(({ index, only }) => only?.has((row.cells[index] ?? '').trim()));
      if (!isSelected) counts.filtered++;
      const read = isSelected && (problem ? { issues: [], problem } : this.read(row));
      if (read) yield isLenient ? { ...read, rowText: row.text } : read;
    }
  }

  /** Why a row cannot be read. */
  private rowProblem({ cells, line, problem }: CsvRow): LocatedIssue | undefined {
    if (problem !== undefined) return { ...NO_LOCATION, line, expected: ROW_EXPECTED, message: problem, kind: problem };
    const count = this.plan.columns.length;
    const surplus = cells.findIndex((cell, index) => index >= count && trimInvisible(cell) !== '');
    if (surplus < 0) return undefined;
    const columns = count === 1 ? '1 column' : `${count} columns`;
    return {
      ...NO_LOCATION,
      line,
      value: cells[surplus],
      expected: `${count} cells`,
      message: `This row has ${cells.length} cells, but the header has ${columns}. Quote cells that contain the delimiter.`,
      order: cellOrder(line, surplus),
      kind: 'surplus cells',
    };
  }

  /**
   * Reads a row. A lenient import reads it once more without the cells that are invalid. Where empty cells empty stored
   * values, it skips the row.
   */
  private read(row: CsvRow): ReadRecord | undefined {
    const { isLenient, keepsMissing, counts, mapping } = this.plan;
    const { repeatedHours } = counts;
    const first = this.attempt(row);
    const { issues } = first;
    const isAgain = isLenient && keepsMissing === true && first.invalid.size > 0;
    if (isAgain) counts.repeatedHours = repeatedHours;
    const { draft, record, issues: left } = isAgain ? this.attempt(withoutCells(row, first.invalid)) : first;
    const problem = isLenient || issues.length === 0 ? (this.rowIssue(draft, row) ?? left[0]) : undefined;
    if (problem?.message === '') return undefined;
    if (problem) return { issues: issues.filter((issue) => issue !== problem), problem };
    const location = { section: mapping.section, index: counts.records++, line: row.line };
    return { location, record: isLenient || issues.length === 0 ? record : undefined, issues };
  }

  /** Why a record that can be read is none, or cannot be used. The message is empty for a row without any text. */
  private rowIssue(draft: RecordDraft, { cells, line }: CsvRow): LocatedIssue | undefined {
    const { requiredKey, section, counts } = this.plan;
    const { isIdentified, usual } = section.definition;
    if (isIdentified && !isIdentified(draft)) {
      const isBlank = cells.every((cell) => trimInvisible(cell) === '');
      const message = isBlank
        ? ''
        : 'Nothing tells who this is. Delete the row, or add its line to "skipLines" in the mapping.';
      return {
        ...NO_LOCATION,
        line,
        expected: 'a name, an address, a number, a company or an ID',
        message,
        kind: 'nobody',
      };
    }
    if (usual && !usual.has(draft)) counts.unusual++;
    const [column] = requiredKey?.columns ?? [];
    if (!requiredKey || !column || requiredKey.match.hasKey(draft)) return undefined;
    const { noun: expected } = requiredKey.match;
    const message = `Empty, but --match ${requiredKey.name} needs ${expected} in every row.`;
    return { ...cellIssue(column, line, null), expected, message };
  }

  private attempt(row: CsvRow): Attempt {
    const { plan } = this;
    const { definition, key } = plan.section;
    const found: Attempt = { draft: {}, issues: [], invalid: new Set() };
    const { draft } = found;
    for (const column of this.unnamed) this.rejectUnnamed(column, row, found);
    for (const filled of plan.filledFields) this.parseCells(filled, row, found);
    definition.complete?.(draft);
    const hadKey = draft[key] !== undefined;
    if (!hadKey) draft[key] = definition.generateId?.();
    const location = { section: plan.mapping.section, index: plan.counts.records, line: row.line };
    const checked = this.check.check(location, draft);
    for (const issue of checked.issues) this.addIssue(issue, row, found);
    found.record = plan.keepsMissing ? withoutDefaults(checked.record, draft) : checked.record;
    if (!hadKey) found.draft = { ...draft, [key]: undefined };
    return found;
  }

  /** Adds what the check of a record has found, unless the cell has been reported already. */
  private addIssue(issue: LocatedIssue, { cells }: CsvRow, { issues, invalid }: Attempt): void {
    const { inputs = [] } = this.plan.filledFields.find(({ field }) => field.name === issue.path) ?? {};
    const columns = inputs.map(({ column }) => column);
    if (columns.some(({ index }) => invalid.has(index))) return;
    const filled = columns.filter(({ index }) => (cells[index] ?? '') !== '');
    issues.push({ ...issue, column: filled[0]?.name ?? issue.column });
    for (const { index } of filled) invalid.add(index);
  }

  private rejectUnnamed(column: CsvColumn, { cells, line }: CsvRow, { issues, invalid }: Attempt): void {
    const value = cells[column.index] ?? '';
    if (trimInvisible(value) === '') return;
    const message = `${quoteShortened(value)} stands in column ${column.index + 1}, which has no name. Name the column "" in the mapping, with field null, to leave it out.`;
    issues.push({ ...cellIssue(column, line, value), expected: 'nothing', message, kind: 'no name' });
    invalid.add(column.index);
  }

  /** Parses the cells of a field. A list uses all its columns; for any other field, a row may have only one value. */
  private parseCells(
    { field, inputs }: FilledField,
    { cells, line }: CsvRow,
    { draft, issues, invalid }: Attempt,
  ): void {
    let first: { column: CsvColumn; text: string } | undefined;
    for (const { column, context } of inputs) {
      const cell = column.constant ?? cells[column.index] ?? '';
      const text = inputs.length > 1 ? trimInvisible(cell) : cell;
      if (first && (text === '' || text === first.text)) continue;
      const problem = first
        ? disagreement(first.column, first.text, column, text)
        : parseCell(draft, field, cell, context, this.plan.mapping.encoding);
      if (problem) {
        issues.push({ ...cellIssue(column, line, cell), ...problem });
        invalid.add(column.index);
      } else if (!field.isList && text !== '') {
        first = { column, text };
      }
    }
  }
}

/** @param indexes of the cells that are emptied */
const withoutCells = (row: CsvRow, indexes: ReadonlySet<number>): CsvRow => ({
  ...row,
  cells: row.cells.map((cell, index) => (indexes.has(index) ? '' : cell)),
});

/** A record without what it has only by default, so that stored values stay. */
function withoutDefaults(record: object | undefined, draft: RecordDraft): object | undefined {
  for (const name of Object.keys(record ?? {})) {
    if (draft[name] === undefined) (record as RecordDraft)[name] = undefined;
  }
  return record;
}

/** What is wrong with a cell. */
type CellProblem = Pick<LocatedIssue, 'message' | 'expected' | 'kind'>;

function parseCell(
  draft: RecordDraft,
  field: CsvField,
  cell: string,
  context: CellContext,
  encoding = 'the encoding of the file',
): CellProblem | undefined {
  if (!isStorableText(cell)) {
    if (!hasInvalidBytes(cell)) return { ...unstorableText(quoteShortened(cell)), kind: 'unstorable' };
    const message = `${quoteShortened(cell)} has bytes that are not text in ${encoding}. Correct them, or name another encoding in the mapping.`;
    return { message, expected: `text in ${encoding}, or another encoding in the mapping`, kind: 'encoding' };
  }
  try {
    field.parseInto(draft, cell, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    return { expected: error.expected, kind: error.kind, message: error.message };
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

function disagreement(one: CsvColumn, oneText: string, other: CsvColumn, otherText: string): CellProblem {
  const values = `${quoteShortened(oneText)} and ${quoteShortened(otherText)}`;
  return {
    message: `${quote(one.name)} and ${quote(other.name)} fill one field and disagree: ${values}.`,
    expected: 'the same value in both columns, or only in one',
    kind: `disagrees with ${one.index}`,
  };
}
