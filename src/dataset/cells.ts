/** A record of a dataset while it is put together. */
export type Draft = Record<string, unknown>;

/** What a cell of a table means in a record. */
export interface Field {
  name: string;
  /** the field of the record that the cell changes, where it is not `name` */
  changes?: string;
  /** SQL that gives the value of a stored row (`stored`) and of the file's (`given`): other parts of it stay. */
  merge?: (stored: string, given: string) => string;
  /**
   * Puts what a cell says into a record.
   * @throws CellFault when it says nothing that the field can hold
   */
  put(draft: Draft, cell: string, organizationId: number): void;
  /** The cell of a record. Fields without it can be read only: what they say, another field says too. */
  take?(record: Draft): string;
}

/** Why a cell cannot be read; completes `column "X": `. */
export class CellFault extends Error {}

/** How a value stands in a cell that is not empty. */
export interface Kind {
  read(cell: string): unknown;
  write(value: unknown): string;
}

export const text: Kind = { read: (cell) => cell, write: String };

export const whole: Kind = {
  read: (cell) => {
    if (!/^\s*\d+\s*$/.test(cell)) throw new CellFault('not a whole number');
    return Number(cell);
  },
  write: String,
};

const YES = /^\s*(true|yes|1)\s*$/i;
const NO = /^\s*(false|no|0)\s*$/i;

export const flag: Kind = {
  read: (cell) => {
    if (!YES.test(cell) && !NO.test(cell)) throw new CellFault('not true or false');
    return YES.test(cell);
  },
  write: String,
};

export const array: Kind = { read: jsonArray, write: JSON.stringify };

/**
 * A list: `a; b` where that is enough, else a JSON array.
 * @param item what one of the texts says
 * @param simple the text that says an item; undefined when none says all of it
 */
export function list(
  item: (text: string, index: number) => unknown,
  simple: (item: unknown) => unknown = () => undefined,
): Kind {
  return {
    read: (cell) => (cell.trimStart().startsWith('[') ? jsonArray(cell) : parts(cell).map(item)),
    write: (value) => {
      const texts = (value as unknown[]).map(simple);
      const cell = texts.join('; ');
      // Only what is read back alike is written so.
      return texts.length > 0 && sameTexts(parts(cell), texts) && !cell.startsWith('[') ? cell : JSON.stringify(value);
    },
  };
}

function jsonArray(cell: string): unknown[] {
  try {
    const value: unknown = JSON.parse(cell);
    if (Array.isArray(value)) return value;
  } catch {
    // said below
  }
  throw new CellFault('not a JSON array');
}

const parts = (cell: string): string[] =>
  cell
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);

const sameTexts = (read: string[], written: unknown[]): boolean =>
  read.length === written.length && read.every((part, index) => part === written[index]);

/** @param whenEmpty what an empty cell says: null, or nothing at all, so that the record has what a new one would have */
export function field(path: string, kind: Kind, whenEmpty: null | undefined): Field {
  const steps = path.split('.');
  const last = steps[steps.length - 1] ?? '';
  return {
    name: path,
    put: (draft, cell) => {
      const holder = steps.slice(0, -1).reduce((inner, step) => (inner[step] ??= {}) as Draft, draft);
      if (cell !== '') holder[last] = kind.read(cell);
      else if (whenEmpty === null) holder[last] = null;
      else delete holder[last];
    },
    take: (record) => {
      const value = steps.reduce<unknown>((inner, step) => (inner as Draft | null | undefined)?.[step], record);
      const isEmpty = whenEmpty === undefined && Array.isArray(value) && value.length === 0;
      return value === null || value === undefined || isEmpty ? '' : kind.write(value);
    },
  };
}
