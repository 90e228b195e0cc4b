import { createHash } from 'node:crypto';
import type { CellContext, CsvField } from './csv-fields';
import { CsvValueError, trimInvisible, type ValueKind } from './csv-values';
import { DATE_FORMATS, parseDateTime } from './date-times';
import type { CsvRow } from './csv-parser';

/** How many different values of a column are counted. */
const MAX_DIFFERENT = 1000;

/** How many different values of a column are listed with their numbers. */
const MAX_LISTED = 8;

/** Longer values are told apart by their digests. */
const MAX_KEY_LENGTH = 64;

const KINDS: [ValueKind, RegExp][] = [
  ['address', /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ['number to call', /^(?:[+(0][\d\s()+./-]{6,}|\d{3}[\s./-]\d{3}[\s./-]\d{4}|[2-9]\d{9}|[1-9]\d{10,12})$/],
  ['link', /^(?:https?:\/\/|www\.)\S+$/i],
];

const isDate = (value: string): boolean =>
  DATE_FORMATS.some((dateFormat) => parseDateTime(value, { dateFormat }) !== undefined);

const kindOf = (value: string): ValueKind | undefined => {
  const [kind] = KINDS.find(([, pattern]) => pattern.test(value)) ?? [];
  return kind === 'number to call' && isDate(value) ? undefined : kind;
};

/** A part of a text keeps all of it in memory, which may be megabytes; its copy does not. */
const copyOf = (part: string): string => Buffer.from(part, 'utf16le').toString('utf16le');

/** What is in a column of a file. */
export class SurveyedColumn {
  /** How many cells have a text. */
  filled = 0;
  /** How many cells can be read in each of the field's formats, and without one. */
  readonly readable = new Map<string | undefined, number>();
  private readonly keys = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly kinds = new Map<ValueKind | undefined, number>();

  /** @param field that the column is going to fill */
  constructor(
    readonly name: string,
    readonly index: number,
    readonly field: CsvField | undefined,
  ) {}

  add(cell: string): void {
    const value = trimInvisible(cell);
    if (value === '') return;
    this.filled++;
    if (this.field?.formats || this.field?.isProbed) this.probe(this.field, cell);
    const count = this.counts.get(value);
    if (count !== undefined) this.counts.set(value, count + 1);
    else if (this.keys.size < MAX_DIFFERENT) this.addDifferent(value);
  }

  private addDifferent(value: string): void {
    const key = value.length > MAX_KEY_LENGTH ? createHash('sha256').update(value).digest('base64') : value;
    if (this.keys.has(key)) return;
    this.keys.add(copyOf(key));
    const kind = kindOf(value);
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (this.counts.size < MAX_LISTED) this.counts.set(copyOf(value), 1);
  }

  private probe(field: CsvField, cell: string): void {
    for (const format of [undefined, ...(field.formats ?? [])]) {
      const context = { organizationId: 0, column: '', format, dateTimes: { dateFormat: format } } as CellContext;
      try {
        field.parseInto({}, cell, context);
        this.readable.set(format, (this.readable.get(format) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof CsvValueError)) throw error;
      }
    }
  }

  /** How many values differ; null if there are too many to count. */
  get different(): number | null {
    return this.keys.size < MAX_DIFFERENT ? this.keys.size : null;
  }

  /** All values with their numbers if they are few, or else the first three. */
  get values(): { value: string; count: number | null }[] {
    const all = [...this.counts].map(([value, count]) => ({ value, count }));
    return this.keys.size <= MAX_LISTED ? all : all.slice(0, 3).map(({ value }) => ({ value, count: null }));
  }

  /** Whether some values are of a kind. */
  has = (kind: ValueKind): boolean => this.kinds.has(kind);

  /** What most values are; undefined if that cannot be seen. */
  get kind(): ValueKind | undefined {
    const [kind] = [...this.kinds].find(([, count]) => count * 2 > this.keys.size) ?? [];
    return kind;
  }
}

/** Reads the rows below a header. @param fields that the columns are going to fill, by their indexes */
export async function surveyRows(
  names: readonly string[],
  fields: readonly (CsvField | undefined)[],
  parts: AsyncIterable<Iterable<CsvRow>>,
): Promise<SurveyedColumn[]> {
  const columns = names.map((name, index) => new SurveyedColumn(name.trim(), index, fields[index]));
  for await (const rows of parts) {
    for (const { cells, problem } of rows) {
      if (problem !== undefined) continue;
      for (const [index, cell] of cells.entries()) if (cell !== '') columns[index]?.add(cell);
    }
  }
  return columns;
}
