import { MAX_LENGTH } from '../../fields/fields';
import { escapeInvisible } from '../../fields/invisible';
import { quote, quoteShortened } from './quote';
import { ExpectedError } from '../../errors/expected-error';

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
  /** Errors of one kind in one column are reported in one line; by default those with the same message but for the value. */
  kind?: string;
}

/** How many errors of the records are reported; the others are only counted. */
const MAX_REPORTED = 20;

/** For an error that has no place in the file. */
export const NO_LOCATION = { line: null, column: null, path: null, value: null } as const;

/** The file cannot be imported. The message has a line for each kind of error. */
export class ImportError extends ExpectedError {
  /**
   * @param moreCount how many errors there are beside `issues`
   * @param lines of the message; by default one for each error
   */
  constructor(
    readonly issues: LocatedIssue[],
    readonly moreCount = 0,
    lines = issues.map((issue) => describeIssue(issue)),
  ) {
    super(lines.join('\n'));
  }
}

/** An error of the file as a whole. */
export const importError = (message: string, expected = message): ImportError =>
  new ImportError([{ ...NO_LOCATION, expected, message }]);

const formatCount = (count: number): string => count.toLocaleString('en-US');

/**
 * Where the error is and what it is, such as `line 7, column "Create Date": Cannot read …`.
 * @param count how many errors there are of this kind
 */
function describeIssue({ line, column, path, message }: LocatedIssue, count = 1): string {
  const more = count > 1 ? ` and ${formatCount(count - 1)} more` : '';
  const position = [line !== null && `line ${line}${more}`, column !== null && `column ${quote(column)}`];
  // Names of fields may come from the file, too.
  const name = column === null && path !== null && escapeInvisible(path.slice(0, MAX_LENGTH.name));
  const field = name && line === null ? name + more : name;
  return [position.filter(Boolean).join(', '), field, message].filter(Boolean).join(': ');
}

const orderOf = ({ order, line }: LocatedIssue): number => order ?? line ?? -1;

/** Errors of one kind in one column. */
interface IssueGroup {
  first: LocatedIssue;
  count: number;
}

/** How many kinds of error are remembered. */
const MAX_REMEMBERED = 1000;

/** What the errors of a kind have in common: the column, or the field of whichever record; and the message but for the value. */
function groupKey({ line, column, path, message, value, kind }: LocatedIssue): string {
  const place = column ?? path?.replace(/\[\d+\]/g, '') ?? null;
  if (kind !== undefined) return JSON.stringify([place, kind]);
  if (place === null) return JSON.stringify([line, message]);
  return JSON.stringify([place, message.replaceAll(quoteShortened(value), '…')]);
}

/** Collects the errors of a file: the first ones in the order of the file, and the number of all. */
export class IssueCollector {
  private first: LocatedIssue[] = [];
  private count = 0;
  private readonly groups = new Map<string, IssueGroup>();
  private readonly limit: number;

  /** @param reportsAll whether to report every error with its own line */
  constructor(readonly reportsAll = false) {
    this.limit = reportsAll ? Infinity : MAX_REPORTED;
  }

  add(...issues: LocatedIssue[]): void {
    this.addFirst(issues, issues.length);
  }

  /** Adds an error that ends the reading. It comes after the others if it has no line. */
  addLast({ issues }: ImportError): void {
    this.add(...issues.map((issue) => ({ ...issue, order: issue.line ?? Infinity })));
  }

  /** @param count the number of all errors, of which `issues` are the first */
  addFirst(issues: LocatedIssue[], count: number): void {
    for (const issue of issues) {
      this.first.push(issue);
      this.addToGroup(issue, 1);
    }
    if (issues[0]) this.addToGroup(issues[0], count - issues.length);
    if (this.first.length > 2 * this.limit) this.first = this.sorted();
    this.count += count;
  }

  get hasAny(): boolean {
    return this.count > 0;
  }

  /** @throws ImportError if there are errors */
  throwIfAny(): void {
    if (this.hasAny) throw this.error;
  }

  /** The errors so far. */
  get error(): ImportError {
    const issues = this.sorted();
    const lines = this.reportsAll ? issues.map((issue) => describeIssue(issue)) : this.lines();
    return new ImportError(issues, this.count - issues.length, lines);
  }

  private sorted = (): LocatedIssue[] =>
    this.first.sort((one, other) => orderOf(one) - orderOf(other)).slice(0, this.limit);

  private addToGroup(issue: LocatedIssue, count: number): void {
    const key = groupKey(issue);
    const group = this.groups.get(key);
    if (group) {
      group.count += count;
      if (orderOf(issue) < orderOf(group.first)) group.first = issue;
    } else if (this.groups.size < MAX_REMEMBERED) {
      // The lines of a thousand errors do not need their values, each of which may have 16 MiB.
      this.groups.set(key, { first: { ...issue, value: null }, count });
    }
  }

  private lines(): string[] {
    const groups = [...this.groups.values()].sort((one, other) => orderOf(one.first) - orderOf(other.first));
    const reported = groups.slice(0, MAX_REPORTED);
    const lines = reported.map(({ first, count }) => describeIssue(first, count));
    const moreCount = this.count - reported.reduce((sum, { count }) => sum + count, 0);
    if (moreCount > 0) lines.push(`and ${formatCount(moreCount)} more`);
    return lines;
  }
}
