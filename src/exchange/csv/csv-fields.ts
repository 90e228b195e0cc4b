import { joinEntries, quoteEntry, splitEntries, wholeQuotedEntry } from './list-cells';
import { type CsvValueType, CsvValueError, trimInvisible, type ValueKind } from './csv-values';
import type { DateTimeOptions } from './date-times';
import type { Lookup, ReferencedRecords } from './lookup';
import { quoteShortened } from '../datasets/quote';

/** A record that is being built from the cells of a row. */
export type RecordDraft = Record<string, unknown>;

/** The context in which the cells of a column are parsed. */
export interface CellContext {
  organizationId: number;
  /** The name of the column; empty if the value comes from an option of the command. */
  column: string;
  /** The format of the column, if the mapping names one of the field's formats. */
  format?: string;
  dateTimes: DateTimeOptions;
  lookup?: Lookup;
  /** Where the IDs of the file come from, if an option says so. */
  source?: string;
}

/** A field of a record as a column of CSV. */
export interface CsvField {
  name: string;
  /** The paths in the record that it fills; by default its name. */
  paths?: string[];
  /** SQL of the new value of a column that the field fills only in part, so that the other parts keep their stored values. */
  mergeSql?: (stored: string, imported: string, path: string, keepsEmpty: boolean) => string;
  /** Whether values of several columns are added up. */
  isList?: boolean;
  /** The fields of the entries of a list that it fills, by the name of the list. */
  entryFields?: Record<string, string[]>;
  /** Whether a proposal reads its cells before it says what they are. */
  isProbed?: boolean;
  /** Whether only a column of exactly this name is proposed for it. */
  isExactName?: boolean;
  /** Whether it is read before the fields that lack this flag. */
  isReadFirst?: boolean;
  /** The formats that a mapping may name for its column. */
  formats?: readonly string[];
  /** What its values look like, if anybody can see it. */
  kind?: ValueKind;
  /** The records that the cells refer to. */
  references?: ReferencedRecords;
  /**
   * Parses a cell into a record, which is checked afterwards.
   * @throws CsvValueError
   */
  parseInto(draft: RecordDraft, cell: string, context: CellContext): void;
  /** The cell of a record. It is undefined for a field that can only be imported, because another one exports its value. */
  format?(record: RecordDraft, lookup?: Lookup): string;
  /** Whether an export has the column only if `--map` names it. */
  isOptional?: boolean;
  /** SQL that selects rows of organization `$1` in which the field has a value. An export without any leaves the column out. */
  isPresentSql?: string;
}

/** The paths in a record that a field fills. */
export const filledPaths = ({ name, paths }: CsvField): string[] => paths ?? [name];

/** Whether a field fills a path: `tags` fills `tags[0].tagOptionId`. */
export const fillsPath = (field: CsvField, path: string): boolean =>
  filledPaths(field).some(
    (filled) => path === filled || path.startsWith(`${filled}[`) || path.startsWith(`${filled}.`),
  );

/**
 * The field at a path of the record.
 * @param whenEmpty the value of an empty cell: null, or undefined for the value that a new record has without the field
 */
export function csvField(path: string, type: CsvValueType, whenEmpty: null | undefined): CsvField {
  const names = path.split('.');
  const lastName = names.pop() ?? '';
  return {
    name: path,
    isOptional: type.isOptional,
    formats: type.formats,
    kind: type.kind,
    parseInto(draft, cell, { dateTimes }) {
      let parent = draft;
      for (const name of names) {
        parent[name] ??= {};
        parent = parent[name] as RecordDraft;
      }
      const text = trimInvisible(cell);
      const value = type.isTrimmed ? text : cell;
      parent[lastName] = text === '' ? whenEmpty : type.parse(value, dateTimes);
    },
    format(record) {
      let parent: RecordDraft | null | undefined = record;
      for (const name of names) parent = parent?.[name] as RecordDraft | null | undefined;
      const value = parent?.[lastName];
      const isEmptyList = whenEmpty === undefined && Array.isArray(value) && value.length === 0;
      return value === null || value === undefined || isEmptyList ? '' : type.format(value);
    },
  };
}

const GARBLED = /^[+-]?\d+(?:[.,]\d+)?E[+-]?\d+$/i;

/** @throws CsvValueError if a spreadsheet has turned a text of digits into a number such as 4.41E+11 */
export function requireDigits(text: string): string {
  if (!GARBLED.test(text.trim())) return text;
  const message = `${quoteShortened(text)} has lost its digits in a spreadsheet. Format the column as text and enter the whole number.`;
  throw new CsvValueError(message, 'the whole number, in a column that is formatted as text', 'lost digits');
}

/** The ID in a cell, without blanks around it. An export writes one in quotes that would be read differently without them. */
export const parseIdentifier = (cell: string): string =>
  wholeQuotedEntry(cell.trim()) ?? requireDigits(trimInvisible(cell));

export function formatIdentifier(id: string): string {
  const isReadBack = trimInvisible(id) === id && !id.startsWith('"') && !GARBLED.test(id);
  return isReadBack ? id : quoteEntry(id);
}

/** The value that refers to the record that a text identifies. @throws CsvValueError if none is known by it, or several are */
export function resolveReference(text: string, references: ReferencedRecords, { lookup, column }: CellContext): string {
  const value = lookup?.find(text) ?? lookup?.create(text);
  if (typeof value === 'string') return value;
  const isAmbiguous = lookup?.find(text) === null;
  const message = isAmbiguous ? references.ambiguous(text) : references.unknown(text, column);
  throw new CsvValueError(message, references.expected, isAmbiguous ? 'ambiguous' : 'unknown');
}

/**
 * A list of objects that refer to other records, by any text that the source knows them by.
 * @param property the property of an entry that holds the reference
 */
export function referenceField(name: string, property: string, references: ReferencedRecords): CsvField {
  const referenceOf = (entry: unknown): string => (entry as Record<string, string>)[property] ?? '';
  return {
    name,
    references,
    isList: true,
    parseInto(draft, cell, context) {
      const texts = splitReferences(cell, references, context.lookup);
      const entries = texts.map((text) => ({ [property]: resolveReference(text, references, context) }));
      draft[name] = addEntries((draft[name] ?? []) as unknown[], entries, referenceOf);
    },
    format(record, lookup) {
      const values = ((record[name] ?? []) as unknown[]).map(referenceOf);
      return joinEntries(values.map((value) => lookup?.nameOf(value) ?? value));
    },
  };
}

/** Splits a cell into texts that refer to records. Text that identifies a record is not split further. */
function splitReferences(cell: string, { separator }: ReferencedRecords, lookup?: Lookup): string[] {
  return splitEntries(cell).flatMap(({ text, isQuoted }) => {
    const isWhole = isQuoted || !separator || lookup?.find(text) !== undefined;
    return isWhole ? [text] : splitEntries(text, separator).map((entry) => entry.text);
  });
}

/** Adds the entries of a column to those of the columns before it; of entries with the same key the last one counts. */
export const addEntries = <Entry>(before: Entry[], added: Entry[], keyOf: (entry: Entry) => string): Entry[] => [
  ...new Map([...before, ...added].map((entry) => [keyOf(entry), entry])).values(),
];
