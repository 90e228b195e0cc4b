/** A check of staged rows. */
export interface RowCheck {
  /** The path of the checked field in a record, or in an entry of the table's array. */
  path: string;
  /** SQL of the value of a staged row that messages show. */
  value: (staged: string) => string;
  /** SQL, to be used after `from`, that gives the invalid staged rows. */
  findViolations: (staged: string) => string;
  /** SQL of JSON that the message needs beside the value. */
  details?: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string, first: string, details: unknown) => string;
  /** What a valid value is. */
  expected: string;
  /** Errors of one kind are reported in one line. */
  kind?: string;
  /** An option of the command by which the rows are valid. */
  fix?: string;
  /** Whether each row knows the first row with the same value, as `first_index` and `first_line`. */
  findsDuplicates?: boolean;
}
