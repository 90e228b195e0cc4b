import type { EntityManager } from 'typeorm';
import type { Coverage, ErrorLocation, RecordLocation, SkippedRecord } from '../datasets/coverage';
import type { RawRecord } from '../datasets/dataset';
import type { EncodingProblem } from '../datasets/file-text';
import { LEGACY_ENCODING } from '../datasets/file-text';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote } from '../datasets/quote';
import type { RowCheck } from '../datasets/row-check';
import { columnKey, mappingsOf } from './column-mappings';
import { ColumnAssignment, findMatchColumns, isLeftOutList, LEFT_OUT_COLUMNS } from './csv-columns';
import { type CellContext, type CsvField, filledPaths, fillsPath, type RecordDraft } from './csv-fields';
import type { CsvColumn, CsvFormat, OptionValue } from './csv-format';
import type { CsvRow } from './csv-parser';
import type { CsvDefinition, CsvMatch } from './csv-section';
import { type OpenFile, readRows, type ReadingOptions, type Survey, surveyFile } from './csv-survey';
import { CsvValueError } from './csv-values';
import type { CsvService } from './csv.service';
import type { LeftOutCounter } from './left-out';
import { Lookup } from './lookup';
import { RepeatedHours } from './repeated-hours';
import { cellOrder, rowIssue } from './row-issues';
import { type CsvSource, type OptionSource, parseOptionValue, RowReader } from './row-reader';
import { RowRecovery, type RowRecoveryOptions } from './row-recovery';

/** What is needed to read a file, in addition to its format. */
export interface CsvReading {
  organizationId: number;
  /** Finds the records that cells refer to. */
  manager: EntityManager;
  issues: IssueCollector;
  /** Receives what a lenient import leaves out. */
  leftOut?: LeftOutCounter;
}

/**
 * Reads the records of a CSV file in constant memory. Its coverage consists of the fields that the file has columns for;
 * stored records keep their values of all other fields.
 */
export class CsvRecords implements Coverage {
  readonly isPartial = true;
  readonly onDuplicate: CsvFormat['onDuplicate'];
  /** What is known about the file after the survey. */
  survey: Survey | undefined;
  /** The columns of the file, known after the survey. */
  columns: CsvColumn[] = [];
  match: CsvMatch | undefined;
  readonly repeatedHours: RepeatedHours;
  checks: RowCheck[] = [];
  skipRecord: Coverage['skipRecord'];
  private matchName: string | undefined;
  private sources: CsvSource[] = [];
  private optionSources: OptionSource[] = [];
  private matchColumns: CsvColumn[] = [];
  private readonly definition: CsvDefinition;

  constructor(
    private readonly csv: CsvService,
    private readonly format: CsvFormat,
    private readonly reading: CsvReading,
  ) {
    this.onDuplicate = format.onDuplicate;
    this.repeatedHours = new RepeatedHours(format.dateTimes.timeZone);
    this.definition = csv.definition(format.section);
    const { leftOut } = reading;
    if (leftOut) this.skipRecord = ({ line, cells, reason }: SkippedRecord) => leftOut.addRow(line, cells, reason);
  }

  /** @throws ImportError if the rest of the file cannot be read */
  async *read(open: OpenFile): AsyncGenerator<RawRecord> {
    const options = this.readingOptions();
    const { identifiers } = this.definition;
    const patterns = (identifiers?.systems ?? []).flatMap(({ idPattern }) => (idPattern ? [idPattern] : []));
    const survey = await surveyFile(open, options, patterns);
    this.survey = survey;
    this.reportEncoding(survey.encodingProblem);
    this.reportDelimiter(survey);
    await this.prepareColumns(survey);
    const { names: header, delimiter } = survey.header;
    const { sources, optionSources } = this;
    const reader = new RowReader({ header, sources, optionSources, raw: this.format.raw });
    const onProblem = () => undefined; // The survey has reported it.
    for await (const { rows } of readRows(open, { ...options, delimiter, endLine: survey.endLine }, onProblem)) {
      for (const row of rows) {
        const record = this.recordOf(row, header, reader);
        if (record) yield record;
      }
    }
  }

  /** The names of the file's own columns, without those that a list of left-out values adds. */
  get ownColumnNames(): string[] {
    const names = this.survey?.header.names ?? [];
    return isLeftOutList(names) ? names.slice(LEFT_OUT_COLUMNS.length) : names;
  }

  providesField = (path: string): boolean =>
    [...this.sources, ...this.optionSources].some(({ field }) => fillsPath(field, path));

  mergeSql(path: string, stored: string, imported: string): string {
    const fields = this.sources.map(({ field }) => field);
    const parts = fields.filter((field) => field.mergeSql && filledPaths(field).includes(path));
    const hasWholeValue = fields.some(({ name, mergeSql }) => name === path && !mergeSql);
    if (parts.length === 0 || hasWholeValue) return imported;
    // Fields that are merged alike, such as all kinds of phone numbers, are merged once.
    const merges = new Set(parts.map(({ mergeSql }) => mergeSql));
    return [...merges].reduce((merged, merge) => merge?.(merged, imported, path) ?? merged, stored);
  }

  get matchPath(): string | undefined {
    const [column] = this.matchColumns;
    return column?.field && filledPaths(column.field)[0];
  }

  locateError({ line = null }: RecordLocation, path: string): ErrorLocation {
    const fills = ({ field }: Pick<CsvSource, 'field'>): boolean => fillsPath(field, path);
    const isOwn = ({ field }: Pick<CsvSource, 'field'>): boolean => field.name === path;
    const source = this.sources.find(isOwn) ?? this.sources.find(fills);
    const column = source?.inputs[0]?.column;
    const field = source?.field ?? this.optionSources.find(fills)?.field;
    return {
      line,
      column: column?.name ?? null,
      path: field?.name ?? path,
      order: cellOrder(line, column?.index),
      // If the cell has another value than the field that is stored, it is not known here.
      isValueHidden: field && (!field.format || (filledPaths(field).length > 1 && field.name !== path)),
    };
  }

  hasSkippedRecords = (): boolean => (this.reading.leftOut?.rows ?? 0) > 0;

  /** Columns of flags provide more of a lead's association with an event than that it exists. */
  updatedEntryFields(list: string): string[] {
    const flags = [...this.sources, ...this.optionSources].flatMap(({ field }) => field.entryFields?.[list] ?? []);
    return [...new Set(flags)];
  }

  /** Columns of flags of a list that no column and no option fills. */
  get columnsWithoutEffect(): CsvColumn[] {
    const hasNoList = ({ field }: CsvColumn): boolean =>
      field?.entryFields !== undefined && !Object.keys(field.entryFields).some((list) => this.providesField(list));
    return this.columns.filter(hasNoList);
  }

  createsReferences = (path: string): boolean =>
    this.missingReferences().some(({ field, lookup }) => field.name === path && lookup.missing.length > 0);

  async createReferences(manager: EntityManager): Promise<void> {
    const { createTags } = this.format;
    for (const { field, lookup } of this.missingReferences()) {
      if (createTags === undefined || lookup.missing.length === 0) continue;
      await field.references?.createMissing?.(manager, this.reading.organizationId, createTags, lookup.missing);
    }
  }

  private missingReferences(): { field: CsvField; lookup: Lookup }[] {
    return this.sources.flatMap(({ field, inputs: [input] }) => {
      const lookup = input?.context.lookup;
      return lookup ? [{ field, lookup }] : [];
    });
  }

  private readingOptions(): ReadingOptions {
    const { encoding, delimiter, skipLines, skipRows, mappings, section } = this.format;
    const fieldsByKey = this.csv.fieldsByName(section);
    const isKnownName = (name: string): boolean =>
      fieldsByKey.has(columnKey(name)) || mappingsOf(mappings, name, 1).length > 0;
    return { encoding, delimiter, skipLines, skipRows, isKnownName };
  }

  private reportEncoding(problem: EncodingProblem | undefined): void {
    if (!problem || this.format.isLenient) return;
    const { line, encoding } = problem;
    const fix = encoding && `--encoding ${encoding}`;
    const advice = fix
      ? `Name the encoding, for example ${fix}.`
      : `Most of the file is. Correct the line, or read its bytes as ${LEGACY_ENCODING} with --lenient.`;
    const message = `Line ${line} is not valid UTF-8. ${advice}`;
    this.reading.issues.add({ ...NO_LOCATION, expected: 'UTF-8, or the name of the encoding', message, fix });
  }

  private reportDelimiter({ header: { wrongDelimiter, delimiter, line } }: Survey): void {
    if (wrongDelimiter === undefined) return;
    const fix = `--delimiter ${delimiter === '\t' ? 'tab' : quote(delimiter)}`;
    const message = `The header is not separated by ${quote(wrongDelimiter)}. Use ${fix}.`;
    this.reading.issues.add({ ...NO_LOCATION, line, expected: fix, message, fix });
  }

  private async prepareColumns(survey: Survey): Promise<void> {
    const { optionValues, section } = this.format;
    this.columns = new ColumnAssignment(this.csv, this.format, survey, this.reading.issues).assign();
    // A field may build on what earlier fields have put into the record, so their order is kept.
    const fields = this.csv.fields(section);
    const inOrder = [...fields.filter((field) => field.isReadFirst), ...fields.filter((field) => !field.isReadFirst)];
    for (const field of inOrder) {
      const columns = this.columns.filter((column) => column.field === field);
      if (columns.length === 0) continue;
      const lookup = await this.loadLookup(field);
      const inputs = columns.map((column) => ({ column, context: this.contextOf(column, lookup) }));
      this.sources.push({ field, inputs });
    }
    for (const optionValue of optionValues) this.optionSources.push(await this.optionSourceOf(optionValue));
    this.chooseMatch();
  }

  /** Matches rows by the ID of a known program if they have one, unless the operator has chosen otherwise. */
  private chooseMatch(): void {
    const { identifiers, matches } = this.definition;
    const names = this.sources.map(({ field }) => field.name);
    const systems = (identifiers?.systems ?? []).filter(({ field }) => names.includes(field));
    const hasOwnKey = identifiers && (names.includes(identifiers.id) || names.includes(identifiers.ref));
    const isBySystem = !this.format.isMatchGiven && systems.length === 1 && !hasOwnKey;
    this.matchName = isBySystem ? identifiers?.match : this.format.match;
    this.match = this.matchName === undefined ? undefined : matches?.[this.matchName];
    if (this.matchName && this.match) this.matchColumns = findMatchColumns(this.columns, this.matchName, this.match);
    const isByRef = !this.match && identifiers && names.includes(identifiers.ref) && !names.includes(identifiers.id);
    if (this.format.mayOverwrite || !identifiers || (!isByRef && !isBySystem)) return;
    const advice = `--source ${quote(this.format.suggestedSource ?? 'NAME')}`;
    this.checks = [identifiers.samePersonCheck(this.providesField, Boolean(isByRef), advice)];
  }

  private async loadLookup({ references }: CsvField): Promise<Lookup | undefined> {
    const mayCreate = this.format.createTags !== undefined && references?.createMissing !== undefined;
    return references && (await Lookup.load(this.reading.manager, this.reading.organizationId, references, mayCreate));
  }

  private contextOf(column?: CsvColumn, lookup?: Lookup): CellContext {
    const { dateTimes, raw, source } = this.format;
    const facts = column && this.survey?.facts.get(column.index);
    return {
      organizationId: this.reading.organizationId,
      column: column?.name ?? '',
      dateTimes: {
        timeZone: dateTimes.timeZone,
        dateFormat: dateTimes.dateFormat ?? facts?.dateFormat,
        likelyDateFormat: facts?.likelyDateFormat,
        onRepeatedHour: (value, offset) => this.repeatedHours.add(value, offset, column?.index),
      },
      raw,
      lookup,
      hasField: (name) => this.columns.some(({ field }) => field?.name === name),
      source,
    };
  }

  /** @throws ImportError if the value of the option cannot be read */
  private async optionSourceOf(optionValue: OptionValue): Promise<OptionSource> {
    const context = this.contextOf(undefined, await this.loadLookup(optionValue.field));
    const source = { ...optionValue, context };
    try {
      parseOptionValue({}, source);
    } catch (error) {
      if (!(error instanceof CsvValueError)) throw error;
      throw importError(`--${optionValue.option}: ${error.message}`);
    }
    return source;
  }

  /** The record of a row; undefined if the row is no record, which is reported. */
  private recordOf(row: CsvRow, header: string[], reader: RowReader): RawRecord | undefined {
    const ownCells = row.cells.slice(reader.firstColumn);
    if (ownCells.every((cell) => cell.trim() === '') && row.problem === undefined) return undefined;
    this.repeatedHours.startRow();
    const { leftOut, issues } = this.reading;
    const noRecord = rowIssue(row, header);
    if (noRecord) {
      if (leftOut) leftOut.addRow(row.line, ownCells, noRecord.message);
      else issues.add(noRecord);
      return undefined;
    }
    return leftOut ? this.lenientRecord(row, reader, leftOut) : this.strictRecord(row, reader);
  }

  private strictRecord(row: CsvRow, reader: RowReader): RawRecord | undefined {
    const { issues } = this.reading;
    issues.add(...reader.namelessCellIssues(row));
    return this.recover(row, reader, {
      onInvalidCell: (issue) => issues.add(issue),
      onInvalidRow: () => undefined,
      findProblem: (record) => {
        const missing = this.missingMatchIssue(record, row.line);
        // An invalid value has already been reported.
        const isBlank = this.matchColumns.every(({ index }) => (row.cells[index] ?? '').trim() === '');
        if (missing && isBlank) issues.add(missing);
        return missing;
      },
    });
  }

  private lenientRecord(row: CsvRow, reader: RowReader, leftOut: LeftOutCounter): RawRecord | undefined {
    const { cells, line } = row;
    for (const { index, name, skipReason } of this.columns) {
      const value = cells[index] ?? '';
      if (skipReason !== undefined && value.trim() !== '') leftOut.addValue(line, name, value, skipReason);
    }
    const leaveOut = ({ column, value, message }: LocatedIssue): void =>
      leftOut.addValue(line, column ?? '', String(value ?? ''), message);
    reader.namelessCellIssues(row).forEach(leaveOut);
    return this.recover(row, reader, {
      onInvalidCell: leaveOut,
      onInvalidRow: ({ message }) => leftOut.addRow(line, cells.slice(reader.firstColumn), message),
      findProblem: (record) => this.missingMatchIssue(record, line) ?? this.uselessIssue(record, line),
    });
  }

  private recover(
    row: CsvRow,
    reader: RowReader,
    handlers: Pick<RowRecoveryOptions, 'onInvalidCell' | 'onInvalidRow' | 'findProblem'>,
  ): RawRecord | undefined {
    const { section } = this.format;
    const { sources } = this;
    const complete = (record: RecordDraft): RecordDraft => this.completed(record);
    return new RowRecovery(row, { section, reader, sources, complete, ...handlers }).read();
  }

  /** Why a readable row is of no use. */
  private uselessIssue(record: RecordDraft, line: number): LocatedIssue | undefined {
    const { usable } = this.definition;
    const hasSuchField = this.sources.some(({ field }) => usable?.fieldNames.test(field.name));
    if (!usable || !hasSuchField || usable.isUsable(record)) return undefined;
    const message = 'Nothing is left by which somebody could be recognized or reached.';
    return { ...NO_LOCATION, line, expected: 'a name, an address, a phone number or a company', message };
  }

  private completed(record: RecordDraft): RecordDraft {
    this.definition.complete?.(record);
    record[this.csv.keyOf(this.format.section)] ??= this.definition.generateId?.();
    return record;
  }

  /** Every row needs the value that `--match` names. Without the option, a row may lack the ID of another program. */
  private missingMatchIssue(record: RecordDraft, line: number): LocatedIssue | undefined {
    const [column] = this.matchColumns;
    if (!this.match || !column || this.format.match === undefined || this.match.hasKey(record)) return undefined;
    const { noun } = this.match;
    const message = `Empty, but --match ${this.matchName} needs ${noun} in every row.`;
    return {
      line,
      column: column.name,
      path: column.field?.name ?? null,
      value: null,
      expected: noun,
      message,
      order: cellOrder(line, column.index),
    };
  }
}
