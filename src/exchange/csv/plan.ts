import type { EntityManager } from 'typeorm';
import { importError } from '../datasets/import-error';
import type {
  ErrorLocation,
  ImportContext,
  ImportPlan,
  NewReferences,
  OnDuplicate,
  RecordLocation,
} from '../datasets/import-plan';
import { type CellContext, type CsvField, filledPaths, fillsPath } from './csv-fields';
import type { CsvDefinition, CsvMatch } from './csv-section';
import { CsvValueError } from './csv-values';
import type { CsvSection, CsvService } from './csv.service';
import type { DateFormat } from './date-times';
import { quoteEntry } from './list-cells';
import { Lookup, type ReferencedRecords } from './lookup';
import { assignColumns, type CsvColumn, type Mapping } from './mapping';
import { openCsv, type OpenedCsv, type OpenFile } from './open';

/** What should happen with a file. How it is read, its mapping says. */
export interface CsvImport {
  mapping: Mapping;
  /** Whether to leave out what cannot be read, instead of rejecting the file. */
  lenient?: boolean;
  optionValues: OptionValue[];
  /** The value by which rows are matched with stored records. */
  match?: string;
  /** Whether rows that match no stored record are left out. */
  updateOnly?: boolean;
  /** What to do with several rows for the same record; they are an error if undefined. */
  repeated?: OnDuplicate;
  /** Which program or list the IDs of the file are from. */
  source?: string;
  /** Whether a row may change the person of a record that has its id. */
  overwrite?: boolean;
  /** The group in which to create tags that cells refer to and that do not exist. */
  createTags?: string;
}

/** A value that an option of the command sets for a field in every row. */
export interface OptionValue {
  option: string;
  field: CsvField;
  value: string;
}

/** A field, and the columns that fill it. */
export interface FilledField {
  field: CsvField;
  inputs: { column: CsvColumn; context: CellContext }[];
}

/** What is known of the rows when all of them have been read. */
interface RowCounts {
  records: number;
  /** Rows with another value in a column than the mapping wants. */
  filtered: number;
  /** Records that lack what nearly every record has. */
  unusual: number;
  /** Times in an hour that occurs twice, of which the first one was taken. */
  repeatedHours: number;
  /** The first of them as the file has it, and the offset that was taken, such as `+02:00`. */
  firstRepeatedHour?: { value: string; timeZone: string; offset: string };
}

/** What a CSV file is, and what its columns become. Stored records keep their values of all fields that it has no column for. */
export interface CsvPlan extends ImportPlan {
  readonly mapping: Mapping;
  readonly section: CsvSection;
  readonly file: OpenedCsv;
  readonly columns: readonly CsvColumn[];
  readonly filledFields: readonly FilledField[];
  readonly counts: RowCounts;
  /** The value of every row by which it is matched with stored records, and the columns that have it. */
  readonly requiredKey?: { name: string; match: CsvMatch; columns: CsvColumn[] };
  /** Whether the next import of the same file would find the records that this one creates. */
  readonly hasKey: boolean;
}

/**
 * Reads a file up to its header, and plans its import.
 * @throws ImportError if it cannot be read, or if its columns are not those of the mapping
 */
export async function planCsv(
  csv: CsvService,
  wanted: CsvImport,
  open: OpenFile,
  context: ImportContext,
): Promise<CsvPlan> {
  const { mapping, lenient = false, repeated, updateOnly } = wanted;
  const section = csv.section(mapping.section);
  const file = await openCsv(open, mapping, { keepsText: lenient });
  const columns = assignColumns(mapping, section, file.header, context.issues);
  const counts: RowCounts = { records: 0, filtered: 0, unusual: 0, repeatedHours: 0 };
  const options = wanted.optionValues.map(optionColumn);
  const contextOf = await cellContexts(wanted, [...columns, ...options], counts, context);
  // A field may build on what earlier fields have put into the record, so their order is kept.
  const filledFields = [
    ...filledByColumns(section.fields, columns, contextOf),
    ...options.map((column, index) => filledByOption(column, contextOf(column), wanted.optionValues[index]!)),
  ].sort((one, other) => Number(other.field.isReadFirst ?? false) - Number(one.field.isReadFirst ?? false));
  const keepsMissing = mapping.emptyCells !== 'clear';
  return Object.freeze({
    ...writePlan(filledFields, keepsMissing),
    ...matchPlan(section, wanted, filledFields, columns),
    newReferences: newReferences(filledFields, wanted, context.organizationId),
    onDuplicate: repeated,
    isLenient: lenient,
    isUpdateOnly: updateOnly ?? false,
    mapping,
    section,
    file,
    columns,
    filledFields,
    counts,
  });
}

/** The context in which the cells of a column are parsed. */
type CellContextOf = (column: CsvColumn) => CellContext;

async function cellContexts(
  { createTags, mapping: { timeZone }, source }: CsvImport,
  columns: CsvColumn[],
  counts: RowCounts,
  { manager, organizationId }: ImportContext,
): Promise<CellContextOf> {
  const lookups = new Map<ReferencedRecords | undefined, Lookup>();
  for (const references of new Set(columns.map(({ field }) => field?.references))) {
    if (!references) continue;
    const mayCreate = createTags !== undefined && references.createMissing !== undefined;
    lookups.set(references, await Lookup.load(manager, organizationId, references, mayCreate));
  }
  const onRepeatedHour = (value: string, offset: string): void => {
    counts.repeatedHours++;
    counts.firstRepeatedHour ??= { value, timeZone: timeZone ?? '', offset };
  };
  return ({ name, format, field }) => ({
    organizationId,
    column: name,
    format,
    dateTimes: { timeZone, dateFormat: format as DateFormat | undefined, onRepeatedHour },
    lookup: lookups.get(field?.references),
    source,
  });
}

function filledByColumns(fields: CsvField[], columns: CsvColumn[], contextOf: CellContextOf): FilledField[] {
  // A file may have a million columns that fill nothing.
  const used = columns.filter(({ field }) => field !== undefined);
  return fields.flatMap((field) => {
    const inputs = used
      .filter((column) => column.field === field)
      .map((column) => ({ column, context: contextOf(column) }));
    return inputs.length > 0 ? [{ field, inputs }] : [];
  });
}

/** The value of an option as a column that has it in each row. It is one entry of a list, whatever it contains. */
const optionColumn = ({ field, value }: OptionValue): CsvColumn => ({
  name: '',
  index: -1,
  field,
  constant: field.references ? quoteEntry(value) : value,
});

/** @throws ImportError if the value of the option cannot be read */
function filledByOption(column: CsvColumn, context: CellContext, { option, field }: OptionValue): FilledField {
  try {
    field.parseInto({}, column.constant ?? '', context);
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    throw importError(`${option}: ${error.message}`);
  }
  return { field, inputs: [{ column, context }] };
}

type WritePlan = Pick<
  ImportPlan,
  'isPartial' | 'keepsMissing' | 'providesField' | 'mergeSql' | 'locateError' | 'updatedEntryFields'
>;

/** What the fields of the file mean for the statements that write them, and for errors. */
function writePlan(filledFields: FilledField[], keepsMissing: boolean): WritePlan {
  const fields = filledFields.map(({ field }) => field);
  return {
    isPartial: true,
    keepsMissing,
    providesField: (path) => fields.some((field) => fillsPath(field, path)),
    mergeSql(path, stored, imported) {
      const parts = fields.filter((field) => field.mergeSql && filledPaths(field).includes(path));
      const hasWholeValue = fields.some(({ name, mergeSql }) => name === path && !mergeSql);
      // Fields that are merged alike, such as all kinds of phone numbers, are merged once.
      const merges = new Set(hasWholeValue ? [] : parts.map(({ mergeSql }) => mergeSql));
      const merge = (before: string, each: CsvField['mergeSql']): string =>
        each?.(before, imported, path, keepsMissing) ?? before;
      const merged = merges.size > 0 ? [...merges].reduce(merge, stored) : imported;
      return keepsMissing ? `case when ${imported} is null then ${stored} else ${merged} end` : merged;
    },
    locateError: (location, path) => locateCell(filledFields, location, path),
    /** Columns of flags provide more of a lead's association with an event than that it exists. */
    updatedEntryFields: (list) => [...new Set(fields.flatMap((field) => field.entryFields?.[list] ?? []))],
  };
}

/** No row has this many columns, so dividing a column index by it does not change the order of lines. */
const MAX_COLUMNS = 2 ** 25;

/** Sorts the errors of cells in the order of the file. */
export const cellOrder = (line: number | null, columnIndex = -1): number =>
  (line ?? 0) + (columnIndex + 1) / MAX_COLUMNS;

function locateCell(filledFields: FilledField[], { line = null }: RecordLocation, path: string): ErrorLocation {
  const fillsAll = filledFields.find(({ field }) => field.name === path);
  const { field, inputs } = fillsAll ?? filledFields.find((each) => fillsPath(each.field, path)) ?? {};
  const column = inputs?.[0]?.column;
  return {
    line,
    // The column of an option has no name.
    column: column?.name || null,
    path: field?.name ?? path,
    order: cellOrder(line, column?.index),
    // If the cell has another value than the field that is stored, it is not known here.
    isValueHidden: field && (!field.format || (filledPaths(field).length > 1 && field.name !== path)),
  };
}

function matchPlan(
  { definition, key }: CsvSection,
  { match: name = 'id', overwrite }: CsvImport,
  filledFields: FilledField[],
  columns: CsvColumn[],
): Pick<CsvPlan, 'match' | 'matchPath' | 'requiredKey' | 'checks' | 'personKey' | 'hasKey'> {
  const { ref, matches = {}, personMatch = '' } = definition;
  const fields = filledFields.map(({ field }) => field);
  const has = (name?: string): boolean => fields.some((field) => field.name === name);
  const match = matches[name];
  const requiredKey = match && { name, match, columns: matchColumns(columns, name, match) };
  const keyField = requiredKey?.columns[0]?.field;
  const isByRef = !match && has(ref?.field) && !has(key);
  const samePerson =
    isByRef && !overwrite ? ref?.check((path) => fields.some((field) => fillsPath(field, path))) : undefined;
  const person = matches[personMatch];
  const namesPerson = fields.some((field) => person?.fieldNames.test(field.name));
  return {
    match,
    matchPath: keyField && filledPaths(keyField)[0],
    requiredKey,
    checks: samePerson ? [samePerson] : [],
    personKey: namesPerson && !match && !has(key) ? person?.key : undefined,
    hasKey: match !== undefined || isByRef || has(key) || !hasOwnKeys(definition),
  };
}

/** Whether records have keys of their own, so that one without a key is always a new one. */
const hasOwnKeys = ({ generateId }: CsvDefinition): boolean => generateId !== undefined;

/**
 * The columns by which rows are matched with stored records.
 * @throws ImportError if the file has none, or has columns of several fields
 */
function matchColumns(columns: CsvColumn[], name: string, match: CsvMatch): CsvColumn[] {
  const matching = columns.filter(({ field }) => field && match.fieldNames.test(field.name));
  const fields = [...new Set(matching.map(({ field }) => field?.name))];
  if (fields.length === 0) throw importError(`--match ${name} needs a column of ${name}, but the file has none.`);
  if (fields.length === 1) return matching;
  throw importError(`--match ${name} needs exactly one of these columns, but the file has ${fields.join(' and ')}.`);
}

/** What cells refer to and what the option for it creates. */
function newReferences(
  filledFields: FilledField[],
  { createTags }: CsvImport,
  organizationId: number,
): NewReferences[] {
  return filledFields.flatMap(({ field, inputs: [input] }) => {
    const { lookup } = input?.context ?? {};
    if (!lookup || createTags === undefined) return [];
    const create = async (manager: EntityManager): Promise<void> => {
      if (lookup.missing.length > 0)
        await field.references?.createMissing?.(manager, organizationId, createTags, lookup.missing);
    };
    return [{ path: field.name, count: () => lookup.missing.length, create }];
  });
}
