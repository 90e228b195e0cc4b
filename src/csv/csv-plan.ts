import type { EntityManager } from 'typeorm';
import { importError, type IssueCollector, NO_LOCATION } from '../datasets/import-error';
import type {
  ErrorLocation,
  ImportContext,
  ImportPlan,
  NewReferences,
  RecordLocation,
  RowCheck,
} from '../datasets/import-plan';
import { type EncodingProblem, LEGACY_ENCODING } from '../datasets/open';
import { quote } from '../datasets/quote';
import { ColumnNames } from './column-names';
import { ColumnAssignment, findMatchColumns, isLeftOutList, LEFT_OUT_COLUMNS } from './csv-columns';
import { type CellContext, type CsvField, filledPaths, fillsPath } from './csv-fields';
import type { CsvColumn, CsvFormat, OptionValue } from './csv-format';
import type { CsvMatch } from './csv-section';
import { type OpenFile, type ReadingOptions, type Survey, surveyFile } from './csv-survey';
import { CsvValueError } from './csv-values';
import type { CsvService } from './csv.service';
import type { DateFormat } from './date-times';
import { Lookup, type LookupSource } from './lookup';
import { cellOrder } from './row-issues';
import { type ColumnStates, type RowSelection, rowSelection, statesOf } from './row-states';

/** A field, and the columns that fill it. */
export interface CsvSource {
  field: CsvField;
  inputs: { column: CsvColumn; context: CellContext }[];
}

/** A field that an option of the command sets in every row. */
export interface OptionSource extends OptionValue {
  context: CellContext;
}

/** The times in an hour that occurs twice, of which the first one is taken. They are known when the file has been read. */
export class RepeatedHours {
  count = 0;
  /** The first of the times as the file has it, and the offset that is taken, such as `+02:00`. */
  first?: { value: string; timeZone: string; offset: string };
  /** The columns of the current row that are counted: a row may be parsed several times. */
  private readonly countedColumns = new Set<number>();

  constructor(private readonly timeZone = '') {}

  beginRow(): void {
    this.countedColumns.clear();
  }

  note(value: string, offset: string, columnIndex = 0): void {
    this.first ??= { value, timeZone: this.timeZone, offset };
    if (!this.countedColumns.has(columnIndex)) this.count++;
    this.countedColumns.add(columnIndex);
  }
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
  readonly reading: ReadingOptions;
  readonly survey: Survey;
  /** The columns of the file and the fields that they fill. */
  readonly columns: readonly CsvColumn[];
  /** The names of the file's own columns, without those that a list of left-out values adds. */
  readonly ownColumnNames: readonly string[];
  readonly sources: readonly CsvSource[];
  readonly optionSources: readonly OptionSource[];
  readonly states: readonly ColumnStates[];
  /** Whether `--only` selects a row. */
  readonly isSelected: RowSelection;
  readonly matchBy?: MatchBy;
  readonly repeatedHours: RepeatedHours;
  /** The orders of day and month, by the names of the columns whose dates need one. */
  readonly dateFormats: Readonly<Record<string, DateFormat>>;
  /** The value of `--match` that finds the person of a row. */
  readonly personMatch?: string;
}

/** Parses the value of an option as a list of one entry, whatever it contains. */
export const parseOptionValue = (draft: Record<string, unknown>, { field, value, context }: OptionSource): void =>
  field.parseInto(draft, field.references ? JSON.stringify([value]) : value, context);

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
  const { section, encoding, delimiter, skipLines, skipRows, raw } = format;
  const names = new ColumnNames(csv, section, format.mappings);
  const reading: ReadingOptions = { encoding, delimiter, skipLines, skipRows, raw, names };
  const { identifiers, words } = csv.definition(section);
  const patterns = (identifiers?.systems ?? []).flatMap(({ idPattern }) => (idPattern ? [idPattern] : []));
  const survey = await surveyFile(open, reading, patterns, words);
  reportEncoding(survey.encodingProblem, format, context.issues);
  reportDelimiter(survey, context.issues);
  const columns = new ColumnAssignment(csv, format, survey, names, context.issues).assign();
  const repeatedHours = new RepeatedHours(format.dateTimes.timeZone);
  const contextOf = cellContexts(format, survey, columns, repeatedHours, context);
  const sources = await sourcesOf(
    csv.fields(section),
    columns.filter(({ field }) => field),
    contextOf,
  );
  const optionSources: OptionSource[] = [];
  for (const optionValue of format.optionValues) optionSources.push(await optionSourceOf(optionValue, contextOf));
  const inFile = survey.header.names;
  return Object.freeze({
    ...writePlan(sources, optionSources),
    ...matchPlan(csv, format, sources, columns),
    newReferences: newReferences(sources, format, context.organizationId),
    onDuplicate: format.onDuplicate,
    isLenient: format.isLenient,
    format,
    reading: { ...reading, delimiter: survey.header.delimiter, endLine: survey.endLine },
    survey,
    columns,
    dateFormats: dateFormatsOf(format, survey, columns),
    personMatch: csv.definition(section).personMatch,
    ownColumnNames: isLeftOutList(inFile) ? inFile.slice(LEFT_OUT_COLUMNS.length) : inFile,
    states: statesOf(survey, names, words),
    isSelected: rowSelection(format, survey, context.issues),
    sources,
    optionSources,
    repeatedHours,
  });
}

function dateFormatsOf({ dateTimes }: CsvFormat, { facts }: Survey, columns: CsvColumn[]): Record<string, DateFormat> {
  const orders = columns.flatMap(({ name, index, field }) => {
    const known = facts.get(index);
    const order = known?.likelyDateFormat && (dateTimes.dateFormat ?? known.dateFormat);
    return field && order ? [[name, order] as const] : [];
  });
  return Object.fromEntries(orders);
}

function reportEncoding(problem: EncodingProblem | undefined, { isLenient }: CsvFormat, issues: IssueCollector): void {
  if (!problem || isLenient) return;
  const { line, encoding } = problem;
  const fix = encoding && `--encoding ${encoding}`;
  const advice = fix
    ? `Name the encoding, for example ${fix}.`
    : `Most of the file is. Correct the line, or read its bytes as ${LEGACY_ENCODING} with --lenient.`;
  const message = `Line ${line} is not valid UTF-8. ${advice}`;
  issues.add({ ...NO_LOCATION, expected: 'UTF-8, or the name of the encoding', message, fix });
}

function reportDelimiter({ header: { wrongDelimiter, delimiter, line } }: Survey, issues: IssueCollector): void {
  if (wrongDelimiter === undefined) return;
  const fix = `--delimiter ${delimiter === '\t' ? 'tab' : quote(delimiter)}`;
  const message = `The header is not separated by ${quote(wrongDelimiter)}. Use ${fix}.`;
  issues.add({ ...NO_LOCATION, line, expected: fix, message, fix });
}

/** The context in which the cells of a column, or the value of an option, are parsed. */
type CellContextOf = (field: CsvField, column?: CsvColumn) => Promise<CellContext>;

function cellContexts(
  { createTags, dateTimes, optionValues, raw, source }: CsvFormat,
  { facts }: Survey,
  columns: CsvColumn[],
  repeatedHours: RepeatedHours,
  { manager, organizationId }: ImportContext,
): CellContextOf {
  const lookups = new Map<LookupSource, Lookup>();
  const fieldNames = new Set(columns.map(({ field }) => field?.name));
  const lookupOf = async (references: LookupSource): Promise<Lookup> => {
    const mayCreate = createTags !== undefined && references.createMissing !== undefined;
    const lookup = lookups.get(references) ?? (await Lookup.load(manager, organizationId, references, mayCreate));
    lookups.set(references, lookup);
    return lookup;
  };
  return async ({ references }, column) => {
    const known = column && facts.get(column.index);
    return {
      organizationId,
      column: column?.name ?? '',
      dateTimes: {
        timeZone: dateTimes.timeZone,
        dateFormat: dateTimes.dateFormat ?? known?.dateFormat,
        likelyDateFormat: known?.likelyDateFormat,
        onRepeatedHour: (value, offset) => repeatedHours.note(value, offset, column?.index),
      },
      raw,
      lookup: references && (await lookupOf(references)),
      hasField: (name) => fieldNames.has(name),
      hasOption: (name) => optionValues.some(({ field }) => field.name === name),
      source,
    };
  };
}

/** The fields that columns fill. A field may build on what earlier fields have put into the record, so their order is kept. */
async function sourcesOf(fields: CsvField[], columns: CsvColumn[], contextOf: CellContextOf): Promise<CsvSource[]> {
  const inOrder = [...fields.filter((field) => field.isReadFirst), ...fields.filter((field) => !field.isReadFirst)];
  const sources: CsvSource[] = [];
  for (const field of inOrder) {
    const inputs: CsvSource['inputs'] = [];
    for (const column of columns) {
      if (column.field === field) inputs.push({ column, context: await contextOf(field, column) });
    }
    if (inputs.length > 0) sources.push({ field, inputs });
  }
  return sources;
}

/** @throws ImportError if the value of the option cannot be read */
async function optionSourceOf(optionValue: OptionValue, contextOf: CellContextOf): Promise<OptionSource> {
  const source = { ...optionValue, context: await contextOf(optionValue.field) };
  try {
    parseOptionValue({}, source);
  } catch (error) {
    if (!(error instanceof CsvValueError)) throw error;
    throw importError(`--${optionValue.option}: ${error.message}`);
  }
  return source;
}

type WritePlan = Pick<ImportPlan, 'isPartial' | 'providesField' | 'mergeSql' | 'locateError' | 'updatedEntryFields'>;

/** What the fields of the file mean for the statements that write them, and for errors. */
function writePlan(sources: CsvSource[], optionSources: OptionSource[]): WritePlan {
  const typed = sources.flatMap(({ inputs }) =>
    inputs.flatMap(({ column }) => [...(column.type?.fields.values() ?? [])]),
  );
  const fields = [...new Set([...sources.map(({ field }) => field), ...typed.filter((field) => field !== null)])];
  const all = [...fields, ...optionSources.map(({ field }) => field)];
  return {
    isPartial: true,
    providesField: (path) => all.some((field) => fillsPath(field, path)),
    mergeSql(path, stored, imported) {
      const parts = fields.filter((field) => field.mergeSql && filledPaths(field).includes(path));
      const hasWholeValue = fields.some(({ name, mergeSql }) => name === path && !mergeSql);
      if (parts.length === 0 || hasWholeValue) return imported;
      // Fields that are merged alike, such as all kinds of phone numbers, are merged once.
      const merges = new Set(parts.map(({ mergeSql }) => mergeSql));
      return [...merges].reduce((merged, merge) => merge?.(merged, imported, path) ?? merged, stored);
    },
    locateError: (location, path) => locateCell(sources, optionSources, location, path),
    /** Columns of flags provide more of a lead's association with an event than that it exists. */
    updatedEntryFields: (list) => [...new Set(all.flatMap((field) => field.entryFields?.[list] ?? []))],
  };
}

function locateCell(
  sources: CsvSource[],
  optionSources: OptionSource[],
  { line = null }: RecordLocation,
  path: string,
): ErrorLocation {
  const fills = ({ field }: Pick<CsvSource, 'field'>): boolean => fillsPath(field, path);
  const source = sources.find(({ field }) => field.name === path) ?? sources.find(fills);
  const column = source?.inputs[0]?.column;
  const field = source?.field ?? optionSources.find(fills)?.field;
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
  csv: CsvService,
  format: CsvFormat,
  sources: CsvSource[],
  columns: CsvColumn[],
): Pick<CsvPlan, 'match' | 'matchPath' | 'matchBy' | 'checks' | 'personKey'> {
  const { identifiers, matches, personMatch = '' } = csv.definition(format.section);
  const names = sources.map(({ field }) => field.name);
  const systems = (identifiers?.systems ?? []).filter(({ field }) => names.includes(field));
  const hasOwnKey = identifiers && (names.includes(identifiers.id) || names.includes(identifiers.ref));
  const isBySystem = !format.isMatchGiven && systems.length === 1 && !hasOwnKey;
  const name = isBySystem ? identifiers?.match : format.match;
  const match = name === undefined ? undefined : matches?.[name];
  const matchBy = name && match ? { name, by: match, columns: findMatchColumns(columns, name, match) } : undefined;
  const [column] = matchBy?.columns ?? [];
  const matchPath = column?.field && filledPaths(column.field)[0];
  const isByRef = !match && identifiers && names.includes(identifiers.ref) && !names.includes(identifiers.id);
  const checks: RowCheck[] = [];
  if (!format.mayOverwrite && identifiers && (isByRef || isBySystem)) {
    const advice = `--source ${quote(format.suggestedSource ?? 'NAME')}`;
    const providesField = (path: string): boolean => sources.some(({ field }) => fillsPath(field, path));
    checks.push(identifiers.samePersonCheck(providesField, Boolean(isByRef), advice));
  }
  const person = matches?.[personMatch];
  const namesPerson = person && names.some((each) => person.fieldNames.test(each));
  const personKey =
    namesPerson && !format.isMatchGiven && !names.includes(identifiers?.id ?? '') ? person.key : undefined;
  return { match, matchPath, matchBy, checks, personKey };
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

/** Columns of flags of a list that no column and no option fills. */
export function columnsWithoutEffect({ columns, providesField }: CsvPlan): CsvColumn[] {
  const hasNoList = ({ field }: CsvColumn): boolean =>
    field?.entryFields !== undefined && !Object.keys(field.entryFields).some((list) => providesField(list));
  return columns.filter(hasNoList);
}
