import { closestName } from '../datasets/closest-name';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { ColumnMapping, CsvColumn, CsvFormat } from './csv-format';
import type { ColumnWords, CsvMatch, ExternalSystem } from './csv-section';
import type { ColumnFacts, Survey } from './csv-survey';
import type { CsvService } from './csv.service';

/** A shorter name could be a typing error of too many other names. */
const MIN_SUGGESTED_LENGTH = 4;

/** How many names a message lists. */
const MAX_LISTED = 10;

/** The first columns of the list of what an import has left out. */
export const LEFT_OUT_COLUMNS = ['line', 'column', 'value', 'reason'];

/** The first of the names in quotes, and how many more there are. */
function listNames(names: string[], nameOf: (name: string) => string = quote, limit = MAX_LISTED): string {
  const listed = names.slice(0, limit).map(nameOf).join(', ');
  const moreCount = names.length - limit;
  return moreCount > 0 ? `${listed} and ${moreCount.toLocaleString('en-US')} more` : listed;
}

/** Assigns the columns of a file to fields. */
export class ColumnAssignment {
  private readonly fieldsByKey: Map<string, CsvField>;
  /** Names that the program that wrote the file uses for something else. */
  private readonly foreignKeys: Set<string>;
  private readonly unknown: CsvColumn[] = [];
  private hasIdentifier = false;

  constructor(
    private readonly csv: CsvService,
    private readonly format: CsvFormat,
    private readonly survey: Survey,
    private readonly issues: IssueCollector,
  ) {
    this.fieldsByKey = csv.fieldsByName(format.section);
    this.foreignKeys = this.findForeignKeys();
  }

  private findForeignKeys(): Set<string> {
    const { foreignColumns = [] } = this.csv.definition(this.format.section);
    const keys = new Set(foreignColumns.length > 0 ? this.survey.header.names.map(columnKey) : []);
    const foreign = foreignColumns.filter(({ beside }) => keys.has(columnKey(beside)));
    return new Set(foreign.flatMap(({ names }) => names.map(columnKey)));
  }

  /**
   * Assigns columns by `--map` first, and then by the names of fields. Columns without a name are left out.
   * @throws ImportError if no column would be imported
   */
  assign(): CsvColumn[] {
    const { names } = this.survey.header;
    const timesSeen = new Map<string, number>();
    const used = new Set<ColumnMapping>();
    const columns: CsvColumn[] = [];
    for (const [index, name] of names.entries()) {
      if (name.trim() === '' || (isLeftOutList(names) && index < LEFT_OUT_COLUMNS.length)) continue;
      const key = columnKey(name);
      const nth = (timesSeen.get(key) ?? 0) + 1;
      timesSeen.set(key, nth);
      const mappings = mappingsOf(this.format.mappings, name, nth);
      for (const mapping of mappings) {
        used.add(mapping);
        columns.push({ name, index, nth, field: mapping.field });
      }
      const column = mappings.length === 0 ? this.columnOf({ name, index, nth, field: undefined }, key) : undefined;
      if (column) columns.push(column);
    }
    this.reportUnknown(columns);
    const unused = this.format.mappings.find((mapping) => !used.has(mapping));
    if (unused) this.reportUnusedMapping(unused);
    if (this.unknown.length === 0 && !columns.some(({ field }) => field))
      throw importError('No column would be imported.');
    return joinTimes(columns, this.survey.facts);
  }

  /** Assigns a column by its name and its values; undefined if it is unknown, which is reported. */
  private columnOf(column: CsvColumn, key: string): CsvColumn | undefined {
    const { name, index } = column;
    const ownField = this.fieldNamed(name, key);
    const prefixed = ownField ? undefined : this.prefixedField(name);
    const named = ownField ?? prefixed?.field;
    const facts = this.survey.facts.get(index);
    const skipReason = this.skipReason(name, named, prefixed?.isOfBuyer ?? false, facts);
    if (skipReason !== undefined) return { ...column, skipReason };
    const field = named && (this.identifierField(named, name, facts) ?? named);
    // A file has one column of IDs. Further ones identify something else, such as a company.
    if (!field || (field !== named && this.hasIdentifier)) return this.unknownColumn(column);
    if (this.isIdentifier(field)) this.hasIdentifier = true;
    return { ...column, field };
  }

  /** Why a column is left out although its name, or a word of it, is known. */
  private skipReason(name: string, field?: CsvField, isOfBuyer = false, facts?: ColumnFacts): string | undefined {
    const { userFields = [], words } = this.csv.definition(this.format.section);
    if (field && userFields.includes(field.name) && facts && facts.values > 0 && facts.addresses === 0)
      return 'It has names instead of e-mail addresses.';
    if (!words) return undefined;
    if (isOfBuyer && this.hasAttendee(words)) return 'It is about the buyer, not about the attendee.';
    if (!field && wordsOf(name).some((word) => words.otherNumbers.includes(word)))
      return 'A number of a fax or pager is not a phone number.';
    if (field?.name === words.titleField && facts?.areMostly(words.salutations)) return 'Its values are salutations.';
    return undefined;
  }

  private hasAttendee({ attendeeFields }: ColumnWords): boolean {
    const fieldOf = (name: string): CsvField | undefined => this.fieldsByKey.get(columnKey(name));
    return this.survey.header.names.some((name) => attendeeFields.test(fieldOf(name)?.name ?? ''));
  }

  /** The field of a name such as `Ticket Phone Number`, which begins with a word for the attendee or the buyer. */
  private prefixedField(name: string): { field: CsvField; isOfBuyer: boolean } | undefined {
    const { words } = this.csv.definition(this.format.section);
    const [prefix = '', ...rest] = wordsOf(name);
    const field = this.fieldsByKey.get(columnKey(rest.join(' ')));
    if (!words || !field || !words.personFields.test(field.name)) return undefined;
    const isOfBuyer = words.buyerPrefixes.includes(prefix);
    // A `Ticket Name` is that of a kind of ticket.
    const isOfAttendee = words.attendeePrefixes.includes(prefix) && field.name !== 'name';
    return isOfBuyer || isOfAttendee ? { field, isOfBuyer } : undefined;
  }

  private unknownColumn(column: CsvColumn): CsvColumn | undefined {
    const { ignoreUnknown, isLenient } = this.format;
    if (ignoreUnknown) return { ...column, isUnknown: true };
    if (isLenient) return { ...column, skipReason: 'Unknown column.' };
    this.unknown.push(column);
    return undefined;
  }

  private fieldNamed(name: string, key: string): CsvField | undefined {
    const field = this.foreignKeys.has(key) ? undefined : this.fieldsByKey.get(key);
    return field?.isExactName && field.name !== name.trim() ? undefined : field;
  }

  private isIdentifier({ name }: CsvField): boolean {
    const { identifiers } = this.csv.definition(this.format.section);
    if (!identifiers) return false;
    return name === identifiers.ref || identifiers.systems.some(({ field }) => field === name);
  }

  /** The field of a column of IDs, which depends on what assigned the IDs. */
  private identifierField(named: CsvField, name: string, facts?: ColumnFacts): CsvField | undefined {
    const { section, source } = this.format;
    const { identifiers } = this.csv.definition(section);
    if (named.name !== identifiers?.id) return undefined;
    if (!facts || facts.values === facts.uuids) return undefined;
    if (facts.uuids > 0) {
      if (!this.format.isLenient) this.reportMixedIds(name, facts);
      return undefined;
    }
    const system = source === undefined && identifiers.systems.find((each) => this.isOfSystem(each, name, facts));
    return this.csv.fieldNamed(section, system ? system.field : identifiers.ref);
  }

  private isOfSystem(
    { idPattern, idColumns = [], usualColumns = [] }: ExternalSystem,
    name: string,
    facts: ColumnFacts,
  ) {
    if (idPattern) return facts.patterns.has(idPattern);
    if (!idColumns.some((each) => columnKey(each) === columnKey(name))) return false;
    const names = new Set(this.survey.header.names.map(columnKey));
    return usualColumns.filter((each) => names.has(columnKey(each))).length >= MIN_USUAL_COLUMNS;
  }

  private reportMixedIds(column: string, { otherId }: ColumnFacts): void {
    const map = `--map ${quote(`${column}=ref`)}`;
    const message = `Some values are IDs of Lanyard and others, such as ${quoteShortened(otherId?.value)}, are not. Correct them, or read all of them as IDs of another program with ${map}.`;
    const expected = 'either IDs of Lanyard or those of another program';
    const { line = null, value = null } = otherId ?? {};
    this.issues.add({ ...NO_LOCATION, line, column, value, expected, message });
  }

  private reportUnknown(columns: CsvColumn[]): void {
    if (this.unknown.length === 0) return;
    const { identifiers } = this.csv.definition(this.format.section);
    const isFree = (field: CsvField): boolean => field.isList || !columns.some((column) => column.field === field);
    const names = [...this.fieldsByKey]
      .filter(([, field]) => isFree(field) && !this.isIdentifier(field) && field.name !== identifiers?.id)
      .map(([key, { name }]): [string, string] => [key, name]);
    const { line } = this.survey.header;
    const unknown = contactsFirst(this.unknown, this.survey.facts).map(({ name }) => name);
    const contacts = this.unknown.filter(({ index }) => this.survey.facts.get(index)?.hasContact);
    const limit = Math.max(MAX_LISTED, contacts.length);
    const listed = unknown.slice(0, limit);
    const suggestions = new Map(listed.map((column) => [column, this.suggestionFor(column, names)]));
    const reported = listed.map((column): LocatedIssue => {
      const expected = suggestions.get(column) ?? 'the name of a field';
      return { ...NO_LOCATION, line, column, expected, message: 'Unknown column.' };
    });
    const nameOf = (column: string): string => {
      const suggestion = suggestions.get(column);
      return suggestion ? `${quote(column)} (did you mean ${suggestion}?)` : quote(column);
    };
    const count = this.unknown.length;
    const what = count === 1 ? 'Unknown column' : `${count.toLocaleString('en-US')} unknown columns`;
    const advice = 'Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.';
    const text = `line ${line}: ${what}: ${listNames(unknown, nameOf, limit)}. ${advice}`;
    // A likely typing error is only named: a command that fills a field by likeness could store a number as a name.
    this.issues.setColumnIssues(reported, count - reported.length, text, ['--ignore-unknown']);
  }

  /** The field whose name has a typing error. A name that differs more means something else: `Position ID` is no position. */
  private suggestionFor(column: string, names: [string, string][]): string | undefined {
    return columnKey(column).length < MIN_SUGGESTED_LENGTH ? undefined : closestName(column, names, 1);
  }

  private reportUnusedMapping({ column }: ColumnMapping): void {
    const names = this.survey.header.names.filter((name) => name.trim() !== '');
    const message = `--map: The file has no column ${quote(column)}. Its columns are ${listNames(names)}.`;
    this.issues.add({ ...NO_LOCATION, expected: 'a column of the file', message });
  }
}

const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Columns whose values look like a way to reach somebody, and then the others. */
export function contactsFirst(columns: CsvColumn[], facts: Map<number, ColumnFacts>): CsvColumn[] {
  const hasContact = ({ index }: CsvColumn): boolean => facts.get(index)?.hasContact ?? false;
  return [...columns.filter(hasContact), ...columns.filter((column) => !hasContact(column))];
}

/** A file with this many of the columns that a program's files usually have is from that program. */
const MIN_USUAL_COLUMNS = 2;

/** Whether the file is the corrected list of what an import has left out. */
export const isLeftOutList = (names: string[]): boolean =>
  names.length > LEFT_OUT_COLUMNS.length && LEFT_OUT_COLUMNS.every((name, index) => names[index]?.trim() === name);

/** Joins a column of dates and one of times where a field has one of each. */
function joinTimes(columns: CsvColumn[], facts: Map<number, ColumnFacts>): CsvColumn[] {
  const isAll = ({ index }: CsvColumn, kind: 'timesOnly' | 'datesOnly'): boolean => {
    const known = facts.get(index);
    return known !== undefined && known[kind] > 0 && known[kind] === known.values;
  };
  const columnsByField = new Map<CsvField, CsvColumn[]>();
  for (const column of columns) {
    if (column.field) columnsByField.set(column.field, [...(columnsByField.get(column.field) ?? []), column]);
  }
  return columns.flatMap((column) => {
    const ofField = (column.field && columnsByField.get(column.field)) ?? [];
    const [dates, ...moreDates] = ofField.filter((each) => isAll(each, 'datesOnly'));
    const [times, ...moreTimes] = ofField.filter((each) => isAll(each, 'timesOnly'));
    if (!dates || !times || moreDates.length + moreTimes.length > 0) return [column];
    if (column === times) return [];
    return [column === dates ? { ...column, timeIndex: times.index } : column];
  });
}

/**
 * The columns by which rows are matched with stored records.
 * @throws ImportError if the file has none, or has columns of several fields although only one is allowed
 */
export function findMatchColumns(columns: CsvColumn[], name: string, match: CsvMatch): CsvColumn[] {
  const matching = columns.filter(({ field }) => field && match.fieldNames.test(field.name));
  const fields = [...new Set(matching.map(({ field }) => field?.name))];
  if (fields.length === 0) throw importError(`--match ${name} needs a column of ${name}, but the file has none.`);
  if (fields.length === 1 || !match.isOfOneField) return matching;
  throw importError(`--match ${name} needs exactly one of these columns, but the file has ${fields.join(' and ')}.`);
}
