import { MAX_LENGTH } from '../api/fields';
import { escapeInvisible, quote } from './quote';

/** One error of a file that is imported. What does not apply is null. */
export interface ImportIssue {
  /** One-based line number in the file. */
  line: number | null;
  /** The name of the CSV column. */
  column: string | null;
  /** The path of the field, such as `leads[0].email`. */
  path: string | null;
  value: unknown;
  /** What a valid value is, in words. */
  expected: string;
}

/** An error with the sentences that describe it, and its place in the file. */
export interface LocatedIssue extends ImportIssue {
  message: string;
  /** Sorts errors by their places in the file; by default they are sorted by line. */
  order?: number;
}

/** How many errors of the records are reported; the others are only counted. */
const MAX_REPORTED = 20;

/** For an error that has no place in the file. */
export const NO_LOCATION = { line: null, column: null, path: null, value: null } as const;

/** The file cannot be imported. The message has a line for each error. */
export class ImportError extends Error {
  /** @param moreCount how many errors there are beside `issues` */
  constructor(
    readonly issues: LocatedIssue[],
    readonly moreCount = 0,
  ) {
    const lines = issues.map(describeIssue);
    if (moreCount > 0) lines.push(`and ${moreCount.toLocaleString('en-US')} more`);
    super(lines.join('\n'));
  }
}

/** An error of the file as a whole. */
export const importError = (message: string, expected = message): ImportError =>
  new ImportError([{ ...NO_LOCATION, expected, message }]);

/** Where the error is and what it is, such as `line 7, column "Create Date": Cannot read …`. */
function describeIssue({ line, column, path, message }: LocatedIssue): string {
  const position: string[] = [];
  if (line !== null) position.push(`line ${line}`);
  if (column !== null) position.push(`column ${quote(column)}`);
  const parts = [position.join(', ')];
  // Names of fields may come from the file, too.
  if (column === null && path !== null) parts.push(escapeInvisible(path.slice(0, MAX_LENGTH.name)));
  return [...parts, message].filter(Boolean).join(': ');
}

/** Collects the errors of a file: the first ones in the order of the file, and the number of all. */
export class IssueCollector {
  private first: LocatedIssue[] = [];
  private count = 0;
  private columnIssues: LocatedIssue[] = [];
  private moreColumnIssues = 0;

  add(...issues: LocatedIssue[]): void {
    this.addFirst(issues, issues.length);
  }

  /** @param count the number of all errors, of which `issues` are the first */
  addFirst(issues: LocatedIssue[], count: number): void {
    const orderOf = ({ order, line }: LocatedIssue): number => order ?? line ?? -1;
    const all = [...this.first, ...issues].sort((one, other) => orderOf(one) - orderOf(other));
    this.first = all.slice(0, MAX_REPORTED);
    this.count += count;
  }

  /** Unknown columns are reported before all other errors, and do not count towards the limit. */
  setColumnIssues(issues: LocatedIssue[], moreCount: number): void {
    this.columnIssues = issues;
    this.moreColumnIssues = moreCount;
  }

  get hasAny(): boolean {
    return this.count + this.columnIssues.length > 0;
  }

  /** @throws ImportError if there are errors */
  throwIfAny(): void {
    if (!this.hasAny) return;
    const moreCount = this.count - this.first.length + this.moreColumnIssues;
    throw new ImportError([...this.columnIssues, ...this.first], moreCount);
  }
}
