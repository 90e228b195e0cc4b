import type { EncodingProblem } from '../datasets/open';
import { type CsvHeader, openCsv, type OpenFile, textsOf } from './delimiter-and-header';
import { ColumnFacts } from './column-facts';
import type { ColumnNames } from './column-names';
import type { CsvFormat } from './csv-options';
import type { CsvRow } from './csv-parser';
import { rowIssue } from './row-issues';

/** What is known about a file after all of it has been read. */
export interface Survey {
  header: CsvHeader;
  encodingProblem?: EncodingProblem;
  /** The facts by the index of the column. Columns without values have none. */
  facts: Map<number, ColumnFacts>;
  /** The line on which another table begins, which is left out with all that follows. */
  endLine?: number;
}

/** @throws ImportError if the file cannot be read */
export async function surveyFile(open: OpenFile, format: CsvFormat, names: ColumnNames): Promise<Survey> {
  let encodingProblem: EncodingProblem | undefined;
  const { header, parts } = await openCsv(open, format, names, (problem) => (encodingProblem = problem));
  const { systems = [] } = names.section.definition.identifiers ?? {};
  const idPatterns = systems.flatMap(({ idPattern }) => idPattern ?? []);
  const facts = new Map<number, ColumnFacts>();
  const tableEnd = new TableEnd(header, names);
  for await (const rows of parts) {
    for (const row of rows) {
      const endLine = tableEnd.lineBefore(row);
      if (endLine !== undefined) return { header, encodingProblem, facts, endLine };
      if (rowIssue(row, header.names)) continue;
      for (const [index, cell] of row.cells.entries()) {
        if (cell === '' || index >= header.names.length) continue;
        const known = facts.get(index) ?? new ColumnFacts(idPatterns);
        facts.set(index, known);
        known.add(cell);
      }
    }
  }
  return { header, encodingProblem, facts };
}

/** Finds the end of a table. */
class TableEnd {
  private rowBefore: CsvRow | undefined;
  /** Where the rows of one text, or the blank lines, begin that stand right before a row. */
  private gapLine: number | undefined;

  constructor(
    private readonly header: CsvHeader,
    private readonly names: ColumnNames,
  ) {}

  /** The line on which another table begins, if the row is its header. A line such as `Panelist Details` is its title. */
  lineBefore(row: CsvRow): number | undefined {
    const { rowBefore } = this;
    const texts = textsOf(row);
    if (rowBefore && row.line > rowBefore.nextLine) this.gapLine ??= row.line;
    if (this.isOtherHeader(row, texts)) return this.gapLine ?? row.line;
    this.gapLine = texts.length > 1 ? undefined : (this.gapLine ?? row.line);
    this.rowBefore = row;
    return undefined;
  }

  /** Whether a row is the header of another table. Below a gap, words with which names of columns end are enough. */
  private isOtherHeader({ cells }: CsvRow, texts: string[]): boolean {
    const { isKnown, isLikeName } = this.names;
    const isAlike = (text: string): boolean => isKnown(text) || isLikeName(text);
    const hasValue = texts.some((text) => /@|\d{4}/.test(text));
    if (texts.length < 2 || hasValue || !texts.slice(0, 3).some(isAlike)) return false;
    const known = texts.filter(isKnown).length;
    const alike = texts.filter(isAlike).length;
    const isHeader =
      this.gapLine === undefined
        ? (known > 2 && known * 2 >= texts.length) || (known > 1 && alike > 2 && alike === texts.length)
        : alike > 1 && alike * 2 >= texts.length;
    if (!isHeader) return false;
    // The header of the same table may be repeated.
    const own = this.header.names.map((name) => name.trim());
    return !texts.every((text) => own.includes(text.trim())) || cells[0]?.trim() !== own[0];
  }
}
