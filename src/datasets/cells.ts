import { isDeepStrictEqual } from 'node:util';

/** A record of a dataset while it is put together. */
export type Draft = Record<string, unknown>;

/** What a cell of a table means in a record. */
export interface Field {
  name: string;
  /** the field of the record that the cell changes, where it is not `name` */
  changes?: string;
  /** SQL that gives the value of a stored row (`stored`) and of the file's (`given`): other parts of it stay. */
  merge?: (stored: string, given: string) => string;
  /** Puts what a cell says into a record, which is checked afterwards. */
  put(draft: Draft, cell: string, organizationId: number): void;
  /** The cell of a record. Fields without it can be read only: what they say, another field says too. */
  take?(record: Draft): string;
}

/** How a value stands in a cell that is not empty. A cell that does not hold one is read as text, and so is at fault. */
export interface Kind {
  read(cell: string): unknown;
  write(value: unknown): string;
}

export const text: Kind = { read: (cell) => cell, write: String };

export const whole: Kind = { read: (cell) => (/^\s*\d+\s*$/.test(cell) ? Number(cell) : cell), write: String };

const FLAGS: Record<string, boolean> = { true: true, yes: true, 1: true, false: false, no: false, 0: false };
export const flag: Kind = { read: (cell) => FLAGS[cell.trim().toLowerCase()] ?? cell, write: String };

export const array: Kind = { read: fromJson, write: JSON.stringify };

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
    read: (cell) => (cell.trimStart().startsWith('[') ? fromJson(cell) : parts(cell).map(item)),
    write: (value) => {
      const texts = (value as unknown[]).map(simple);
      const cell = texts.join('; ');
      // Only what is read back alike is written so.
      const isEnough = texts.length > 0 && isDeepStrictEqual(parts(cell), texts) && !cell.startsWith('[');
      return isEnough ? cell : JSON.stringify(value);
    },
  };
}

function fromJson(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return cell;
  }
}

const parts = (cell: string): string[] =>
  cell
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);

/** @param whenEmpty what an empty cell says: null, or nothing at all, so that the record has what a new one would have */
export function field(path: string, kind: Kind, whenEmpty: null | undefined): Field {
  const steps = path.split('.');
  const last = steps[steps.length - 1] ?? '';
  return {
    name: path,
    put: (draft, cell) => {
      const holder = steps.slice(0, -1).reduce((inner, step) => (inner[step] ??= {}) as Draft, draft);
      holder[last] = cell === '' ? whenEmpty : kind.read(cell);
    },
    take: (record) => {
      const value = steps.reduce<unknown>((inner, step) => (inner as Draft | null | undefined)?.[step], record);
      const isEmpty = whenEmpty === undefined && Array.isArray(value) && value.length === 0;
      return value === null || value === undefined || isEmpty ? '' : kind.write(value);
    },
  };
}
