import type { EntityManager } from 'typeorm';
import { importError, type IssueCollector, NO_LOCATION } from '../datasets/import-error';
import type { ErrorLocation, ImportContext, ImportPlan, NewReferences, RecordLocation } from '../datasets/import-plan';
import { type EncodingProblem, LEGACY_ENCODING } from '../datasets/open';
import { ColumnNames } from './column-names';
import { ColumnAssignment } from './csv-columns';
import { type CellContext, type CsvField, filledPaths, fillsPath } from './csv-fields';
import type { CsvColumn, CsvFormat, OptionValue } from './csv-options';
import type { OpenFile } from './delimiter-and-header';
import type { CsvDefinition, CsvMatch, UsableRecord } from './csv-section';
import { type Survey, surveyFile } from './csv-survey';
import { CsvValueError } from './csv-values';
import { quoteEntry } from './list-cells';
import type { CsvSection, CsvService } from './csv.service';
import { Lookup, type LookupSource } from './lookup';
import { cellOrder } from './row-issues';
import { type RowSelection, rowSelection } from './row-states';

/** A field, and the columns that fill it, or the value that an option of the command sets in every row. */
export interface CsvSource {
  field: CsvField;
  inputs: { column: CsvColumn; context: CellContext }[];
  option?: { value: string; context: CellContext };
}

/** The times in an hour that occurs twice, of which the first one is taken. They are known when the file has been read. */
interface RepeatedHours {
  count: number;
  /** The first of the times as the file has it, and the offset that is taken, such as `+02:00`. */
  first?: { value: string; timeZone: string; offset: string };
}

/** How rows are matched with stored records by a value of their own. */
interface MatchBy {
  name: string;
  by: CsvMatch;
  columns: CsvColumn[];
}

/** What a CSV file is, and what its columns become. Stored records keep their values of all fields that it has no column for. */
export interface CsvPlan extends ImportPlan {
  readonly format: CsvFormat;
  readonly section: CsvSection;
  readonly names: ColumnNames;
  readonly survey: Survey;
  /** The columns of the file and the fields that they fill. */
  readonly columns: readonly CsvColumn[];
  readonly sources: readonly CsvSource[];
  /** What a useful record has, if the file has a column of it. */
  readonly usable?: UsableRecord;
  /** Whether `--only` selects a row. */
  readonly isSelected: RowSelection;
  readonly matchBy?: MatchBy;
  readonly repeatedHours: RepeatedHours;
}

/**
 * Reads a file once to plan its import.
 * @throws ImportError if it cannot be read, or if no column would be imported
 */
export async function planCsv(
  csv: CsvService,
  format: CsvFormat,
  open: OpenFile,
  context: ImportContext,
): Promise<CsvPlan> {
  const isLenient = format.lenient ?? false;
  const { issues } = context;
  const section = csv.section(format.section);
  const { definition } = section;
  const names = new ColumnNames(section, format.mappings);
  const survey = await surveyFile(open, format, names);
  if (survey.encodingProblem && !isLenient) reportEncoding(survey.encodingProblem, issues);
  const columns = new ColumnAssignment(format, survey, names, issues).assign();
  const repeatedHours: RepeatedHours = { count: 0 };
  const contextOf = await cellContexts(format, columns, repeatedHours, context);
  // A field may build on what earlier fields have put into the record, so their order is kept.
  const inOrder = [
    ...columnSources(section.fields, columns, contextOf),
    ...format.optionValues.map((value) => optionSource(value, contextOf)),
  ];
  const isFirst = ({ field }: CsvSource): boolean => field.isReadFirst ?? false;
  const sources = [...inOrder.filter(isFirst), ...inOrder.filter((source) => !isFirst(source))];
  const { usable } = definition;
  const hasUsable = columns.some(({ field }) => field && usable?.fieldNames.test(field.name));
  return Object.freeze({
    ...writePlan(sources),
    ...matchPlan(definition, format, sources, columns),
    newReferences: newReferences(sources, format, context.organizationId),
    onDuplicate: format.repeated,
    isLenient,
    format,
    section,
    names,
    survey,
    columns,
    usable: hasUsable ? usable : undefined,
    isSelected: rowSelection(format, survey, issues),
    sources,
    repeatedHours,
  });
}

function reportEncoding({ line, encoding }: EncodingProblem, issues: IssueCollector): void {
  const fix = encoding && `--encoding ${encoding}`;
  const advice = fix
    ? `Name the encoding, for example ${fix}.`
    : `Most of the file is. Correct the line, or read its bytes as ${LEGACY_ENCODING} with --lenient.`;
  const message = `Line ${line} is not valid UTF-8. ${advice}`;
  issues.add({ ...NO_LOCATION, expected: 'UTF-8, or the name of the encoding', message, fix });
}

/** The context in which the cells of a column, or the value of an option, are parsed. */
type CellContextOf = (field: CsvField, column?: CsvColumn) => CellContext;

async function cellContexts(
  { createTags, timeZone, dateFormat, optionValues, source }: CsvFormat,
  columns: CsvColumn[],
  repeatedHours: RepeatedHours,
  { manager, organizationId }: ImportContext,
): Promise<CellContextOf> {
  const lookups = new Map<LookupSource | undefined, Lookup>();
  const fields = [...columns, ...optionValues].map(({ field }) => field);
  for (const references of new Set(fields.map((field) => field?.references))) {
    if (!references) continue;
    const mayCreate = createTags !== undefined && references.createMissing !== undefined;
    lookups.set(references, await Lookup.load(manager, organizationId, references, mayCreate));
  }
  const fieldNames = new Set(columns.map(({ field }) => field?.name));
  const onRepeatedHour = (value: string, offset: string): void => {
    repeatedHours.count++;
    repeatedHours.first ??= { value, timeZone: timeZone ?? '', offset };
  };
  return ({ references }, column) => {
    const facts = column?.facts;
    return {
      organizationId,
      column: column?.name ?? '',
      dateTimes: {
        timeZone,
        dateFormat: dateFormat ?? facts?.provenFormat,
        isAmbiguous: (facts?.dateFormats?.length ?? 0) > 1,
        onRepeatedHour,
      },
      lookup: lookups.get(references),
      hasField: (name) => fieldNames.has(name),
      source,
    };
  };
}

/** The fields that columns fill. */
function columnSources(fields: CsvField[], columns: CsvColumn[], contextOf: CellContextOf): CsvSource[] {
  // A file may have a million columns that fill nothing.
  const used = columns.filter(({ field }) => field !== undefined);
  return fields.flatMap((field) => {
    const filling = used.filter((column) => column.field === field);
    const inputs = filling.map((column) => ({ column, context: contextOf(field, column) }));
    return inputs.length > 0 ? [{ field, inputs }] : [];
  });
}

/** @throws ImportError if the value of the option cannot be read */
function optionSource({ option, field, value }: OptionValue, contextOf: CellContextOf): CsvSource {
  const context = contextOf(field);
  // The value is one entry of a list, whatever it contains.
  const cell = field.references ? quoteEntry(value) : value;
  try {
    field.parseInto({}, cell, context);
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    throw importError(`${option}: ${error.message}`);
  }
  return { field, inputs: [], option: { value: cell, context } };
}

type WritePlan = Pick<ImportPlan, 'isPartial' | 'providesField' | 'mergeSql' | 'locateError' | 'updatedEntryFields'>;

/** What the fields of the file mean for the statements that write them, and for errors. */
function writePlan(sources: CsvSource[]): WritePlan {
  const typed = sources.flatMap(({ inputs }) =>
    inputs.flatMap(({ column }) => [...(column.type?.fields.values() ?? [])]),
  );
  const fields = [...new Set([...sources.map(({ field }) => field), ...typed.filter((field) => field !== null)])];
  return {
    isPartial: true,
    providesField: (path) => fields.some((field) => fillsPath(field, path)),
    mergeSql(path, stored, imported) {
      const parts = fields.filter((field) => field.mergeSql && filledPaths(field).includes(path));
      const hasWholeValue = fields.some(({ name, mergeSql }) => name === path && !mergeSql);
      if (parts.length === 0 || hasWholeValue) return imported;
      // Fields that are merged alike, such as all kinds of phone numbers, are merged once.
      const merges = new Set(parts.map(({ mergeSql }) => mergeSql));
      return [...merges].reduce((merged, merge) => merge?.(merged, imported, path) ?? merged, stored);
    },
    locateError: (location, path) => locateCell(sources, location, path),
    /** Columns of flags provide more of a lead's association with an event than that it exists. */
    updatedEntryFields: (list) => [...new Set(fields.flatMap((field) => field.entryFields?.[list] ?? []))],
  };
}

function locateCell(sources: CsvSource[], { line = null }: RecordLocation, path: string): ErrorLocation {
  const source =
    sources.find(({ field }) => field.name === path) ?? sources.find(({ field }) => fillsPath(field, path));
  const field = source?.field;
  const column = source?.inputs[0]?.column;
  return {
    line,
    column: column?.name ?? null,
    path: field?.name ?? path,
    order: cellOrder(line, column?.index),
    // If the cell has another value than the field that is stored, it is not known here.
    isValueHidden: field && (!field.format || (filledPaths(field).length > 1 && field.name !== path)),
  };
}

/** Matches rows by the ID of a known program if they have one, unless the operator has chosen otherwise. */
function matchPlan(
  { identifiers, matches = {}, personMatch = '' }: CsvDefinition,
  { match: given, overwrite }: CsvFormat,
  sources: CsvSource[],
  columns: CsvColumn[],
): Pick<CsvPlan, 'match' | 'matchPath' | 'matchBy' | 'checks' | 'personKey'> {
  const has = (name?: string): boolean => sources.some(({ field }) => field.name === name);
  const [hasId, hasRef] = [has(identifiers?.id), has(identifiers?.ref)];
  const systems = (identifiers?.systems ?? []).filter(({ field }) => has(field));
  const isBySystem = given === undefined && systems.length === 1 && !hasId && !hasRef;
  const name = (isBySystem ? identifiers?.match : given) ?? '';
  const match = matches[name];
  const matchBy = match && { name, by: match, columns: matchColumns(columns, name, match) };
  const key = matchBy?.columns[0]?.field;
  const isByRef = !match && hasRef && !hasId;
  const samePerson =
    !overwrite && (isByRef || isBySystem)
      ? identifiers?.samePersonCheck((path) => sources.some(({ field }) => fillsPath(field, path)), isByRef)
      : undefined;
  const person = matches[personMatch];
  const namesPerson = sources.some(({ field }) => person?.fieldNames.test(field.name));
  return {
    match,
    matchPath: key && filledPaths(key)[0],
    matchBy,
    checks: samePerson ? [samePerson] : [],
    personKey: namesPerson && given === undefined && !hasId ? person?.key : undefined,
  };
}

/**
 * The columns by which rows are matched with stored records.
 * @throws ImportError if the file has none, or has columns of several fields although only one is allowed
 */
function matchColumns(columns: CsvColumn[], name: string, match: CsvMatch): CsvColumn[] {
  const matching = columns.filter(({ field }) => field && match.fieldNames.test(field.name));
  const fields = [...new Set(matching.map(({ field }) => field?.name))];
  if (fields.length === 0) throw importError(`--match ${name} needs a column of ${name}, but the file has none.`);
  if (fields.length === 1 || !match.isOfOneField) return matching;
  throw importError(`--match ${name} needs exactly one of these columns, but the file has ${fields.join(' and ')}.`);
}

/** What cells refer to and what the option for it creates. */
function newReferences(sources: CsvSource[], { createTags }: CsvFormat, organizationId: number): NewReferences[] {
  return sources.flatMap(({ field, inputs: [input] }) => {
    const { lookup } = input?.context ?? {};
    if (!lookup || createTags === undefined) return [];
    const create = async (manager: EntityManager): Promise<void> => {
      if (lookup.missing.length > 0)
        await field.references?.createMissing?.(manager, organizationId, createTags, lookup.missing);
    };
    return [{ path: field.name, count: () => lookup.missing.length, create }];
  });
}
