import { isDeepStrictEqual } from 'node:util';
import type { Lookup, LookupSource } from './lookup';
import { type Clock, MOMENT, momentOf, needsFormat } from './date-times';
import { shortened } from '../datasets/quoted';

/** A record of a dataset while it is put together. */
export type Draft = Record<string, unknown>;

/** A cell that cannot be read. */
export class CellFault extends Error {
  /** @param says what is wrong, after the cell */
  constructor(
    says: string,
    readonly wanted: string,
  ) {
    super(`${says}; wanted ${wanted}`);
  }
}

/** What a cell is read with. */
export interface CellContext {
  organizationId: number;
  clock: Clock;
  /** cells are as they are, without a quote before a formula */
  raw: boolean;
  lookup?: Lookup;
}

/** What a cell of a table means in a record. */
export interface Field {
  name: string;
  /** the fields of the record that the cell changes, where they are not `name` */
  changes?: string[];
  /** SQL that gives the value of a stored row (`stored`) and of the file's (`given`): other parts of it stay. */
  merge?: (stored: string, given: string) => string;
  /** whether several columns of the field add up */
  isList?: boolean;
  /** by what names the cell means other records */
  lookup?: LookupSource;
  /**
   * Puts what a cell says into a record, which is checked afterwards.
   * @throws CellFault
   */
  put(draft: Draft, cell: string, context: CellContext): void;
  /** The cell of a record. Fields without it can be read only: what they say, another field says too. */
  take?(record: Draft, lookup?: Lookup): string;
  /** whether an export has it only where --map says so */
  isOptional?: boolean;
  /** SQL by which an export has the field only where a row of organization `$1` has it */
  occurs?: string;
}

/** How a value stands in a cell that is not empty. A cell that does not hold one is read as text, and so is at fault. */
export interface Kind {
  read(cell: string, context: CellContext): unknown;
  write(value: unknown): string;
  /** whether blanks around the cell are no part of it */
  trims?: boolean;
  isOptional?: boolean;
}

export const text: Kind = { read: (cell) => cell, write: String };
export const identifier: Kind = { ...text, trims: true };

export const whole: Kind = { read: (cell) => (/^\d+$/.test(cell) ? Number(cell) : cell), write: String, trims: true };

const FLAGS: Record<string, boolean> = { true: true, yes: true, 1: true, false: false, no: false, 0: false };
export const flag: Kind = { read: (cell) => FLAGS[cell.toLowerCase()] ?? cell, write: String, trims: true };

export const array: Kind = { read: fromJson, write: JSON.stringify, isOptional: true };

const INVISIBLE = /^[\p{Cc}\p{Cf}\p{Z}]$/u;
const WITHIN = /(?! )[\p{Cc}\p{Cf}\p{Z}]/u;

/** The character of a text that begins at a place. */
const characterAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) ?? 0);

/** The character of a text that ends at a place: one of two code units, where these are a pair. */
function characterBefore(text: string, end: number): string {
  const pair = end > 1 ? characterAt(text, end - 2) : '';
  return pair.length === 2 ? pair : text.slice(end - 1, end);
}

/**
 * The text without the invisible characters around it. An expression that looks for them before the end takes quadratic
 * time over a long run of blanks.
 */
function trimInvisible(text: string): string {
  let start = 0;
  while (start < text.length && INVISIBLE.test(characterAt(text, start))) start += characterAt(text, start).length;
  let end = text.length;
  while (end > start && INVISIBLE.test(characterBefore(text, end))) end -= characterBefore(text, end).length;
  return text.slice(start, end);
}

export const address: Kind = {
  read: (cell) => {
    if (WITHIN.test(cell)) throw new CellFault('has an invisible character', 'name@example.com');
    return cell;
  },
  write: String,
  trims: true,
};

export const moment: Kind = {
  read: (cell, { clock }) => {
    try {
      const utc = momentOf(cell, clock);
      if (utc !== undefined) return utc;
    } catch (error) {
      throw new CellFault((error as Error).message, 'another hour, or one with its zone');
    }
    const isUnclear = needsFormat(cell) && !clock.dateFormat;
    throw new CellFault('is no date-time', isUnclear ? `${MOMENT}, or say --date-format MDY (or DMY)` : MOMENT);
  },
  write: String,
  trims: true,
};

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
    read: (cell) => (isJson(cell) ? fromJson(cell) : parts(cell).map(item)),
    write: (value) => joined((value as unknown[]).map(simple)) ?? JSON.stringify(value),
  };
}

/** The texts as `a; b`, or undefined where they would not be read back alike. */
function joined(texts: unknown[]): string | undefined {
  const cell = texts.join('; ');
  return texts.length > 0 && isDeepStrictEqual(parts(cell), texts) && !isJson(cell) ? cell : undefined;
}

const isJson = (cell: string): boolean => cell.trimStart().startsWith('[');

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

/** What a cell of a list says: `a; b`, or a JSON array. */
export const partsOf = (cell: string): unknown[] | string => {
  const value = isJson(cell) ? fromJson(cell) : parts(cell);
  return Array.isArray(value) ? (value as unknown[]) : cell;
};

/** The cell that says the texts. */
export const cellOf = (texts: string[]): string => (texts.length === 0 ? '' : (joined(texts) ?? JSON.stringify(texts)));

/** Entries that differ in a text, those of several columns together; equal ones once. What is no list is at fault later. */
export function addEntries(before: unknown, added: unknown[] | string, key: (entry: unknown) => unknown): unknown {
  if (!Array.isArray(added) || (before !== undefined && !Array.isArray(before))) return before ?? added;
  const all = [...((before as unknown[] | undefined) ?? []), ...added];
  return [...new Map(all.map((entry) => [JSON.stringify(key(entry)), entry])).values()];
}

/** An array of objects that mean other records, by whatever the lookup knows them. */
export function links(name: string, property: string, lookup: LookupSource): Field {
  const valueOf = (entry: unknown): string => (entry as Record<string, string>)[property] ?? '';
  return {
    ...{ name, lookup, isList: true },
    put: (draft, cell, context) => {
      const all = partsOf(cell);
      const found = Array.isArray(all)
        ? all.map((part) => (typeof part === 'string' ? { [property]: idOf(part, all.length, context) } : part))
        : all;
      draft[name] = addEntries(draft[name], found, (entry) =>
        entry && typeof entry === 'object' ? valueOf(entry) : entry,
      );
    },
    take: (record, known) =>
      cellOf(((record[name] ?? []) as unknown[]).map(valueOf).map((value) => known?.nameOf(value) ?? value)),
  };
  function idOf(part: string, of: number, { lookup: known }: CellContext): string {
    const value = known?.find(part);
    if (typeof value === 'string') return value;
    const which = of > 1 ? `has ${shortened(part)}, which ` : '';
    throw new CellFault(`${which}${value === null ? 'means several' : 'is no'} ${lookup.noun}`, lookup.wanted);
  }
}

/** @param whenEmpty what an empty cell says: null, or nothing at all, so that the record has what a new one would have */
export function field(path: string, kind: Kind, whenEmpty: null | undefined): Field {
  const steps = path.split('.');
  const last = steps[steps.length - 1] ?? '';
  return {
    name: path,
    isOptional: kind.isOptional,
    put: (draft, cell, context) => {
      const holder = steps.slice(0, -1).reduce((inner, step) => (inner[step] ??= {}) as Draft, draft);
      const given = kind.trims ? trimInvisible(cell) : cell;
      holder[last] = given === '' ? whenEmpty : kind.read(given, context);
    },
    take: (record) => {
      const value = steps.reduce<unknown>((inner, step) => (inner as Draft | null | undefined)?.[step], record);
      const isEmpty = whenEmpty === undefined && Array.isArray(value) && value.length === 0;
      return value === null || value === undefined || isEmpty ? '' : kind.write(value);
    },
  };
}
