import { closestName } from '../datasets/closest-name';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { ColumnMapping, CsvColumn, CsvFormat } from './csv-format';
import { ColumnNames, type NameMeaning, wordsOf } from './column-names';
import type { CsvIdentifiers, CsvMatch, ExternalSystem } from './csv-section';
import type { ColumnFacts, Survey } from './csv-survey';
import type { CsvService } from './csv.service';

/** A shorter name could be a typing error of too many other names. */
const MIN_SUGGESTED_LENGTH = 4;

/** How many names a message lists. */
const MAX_LISTED = 10;

/** The first columns of the list of what an import has left out. */
export const LEFT_OUT_COLUMNS = ['line', 'column', 'value', 'reason'];

/** The first of the names in quotes, and how many more there are. */
export function listNames(names: string[], nameOf: (name: string) => string = quote, limit = MAX_LISTED): string {
  const listed = names.slice(0, limit).map(nameOf).join(', ');
  const moreCount = names.length - limit;
  return moreCount > 0 ? `${listed} and ${moreCount.toLocaleString('en-US')} more` : listed;
}

/** Assigns the columns of a file to fields. */
export class ColumnAssignment {
  /** What the name of each column means in this file. */
  private readonly meanings: ReadonlyMap<string, NameMeaning>;
  private readonly hasAttendee: boolean;
  private hasIdentifier = false;

  constructor(
    private readonly csv: CsvService,
    private readonly format: CsvFormat,
    private readonly survey: Survey,
    private readonly names: ColumnNames,
    private readonly issues: IssueCollector,
  ) {
    const { words } = csv.definition(format.section);
    const inFile = new Set(survey.header.names.map((name) => name.trim().toUpperCase()));
    const foreign = words?.foreignColumns.filter(({ beside }) => inFile.has(beside.toUpperCase())) ?? [];
    const foreignKeys = new Set(foreign.flatMap((each) => each.names.map(columnKey)));
    const known = new Map<string, NameMeaning>();
    for (const name of new Set(survey.header.names)) {
      known.set(name, foreignKeys.has(columnKey(name)) ? {} : names.meaningOf(name));
    }
    const isPerson = ({ field }: NameMeaning): boolean => words?.attendeeFields.test(field?.name ?? '') ?? false;
    // `Billing City` is that of the company, unless a person is named beside it, as in `Billing First Name`.
    const buyers = new Set<string | undefined>();
    for (const each of known.values()) if (each.person === 'buyer' && isPerson(each)) buyers.add(each.prefix);
    for (const [name, each] of known) if (each.own && !buyers.has(each.prefix)) known.set(name, { field: each.own });
    this.meanings = known;
    this.hasAttendee = [...known.values()].some(
      (each) => each.person === 'attendee' || (!each.person && isPerson(each)),
    );
  }

  /**
   * Assigns columns by `--map` first, and then by the names of fields. Columns without a name are left out.
   * @throws ImportError if no column would be imported
   */
  assign(): CsvColumn[] {
    const { names } = this.survey.header;
    const { mappings, ignoreUnknown, isLenient } = this.format;
    const timesSeen = new Map<string, number>();
    const used = new Set<ColumnMapping>();
    const assigned: CsvColumn[] = [];
    for (const [index, name] of names.entries()) {
      if (name.trim() === '' || (isLeftOutList(names) && index < LEFT_OUT_COLUMNS.length)) continue;
      const key = columnKey(name);
      const nth = (timesSeen.get(key) ?? 0) + 1;
      timesSeen.set(key, nth);
      const mapped = mappingsOf(mappings, name, nth);
      for (const mapping of mapped) {
        used.add(mapping);
        assigned.push({ name, index, nth, field: mapping.field });
      }
      if (mapped.length === 0) assigned.push(this.columnOf({ name, index, nth, field: undefined }));
    }
    const columns = this.withTypes(joinTimes(assigned, this.survey.facts));
    const unknown = ignoreUnknown || isLenient ? [] : columns.filter(({ isUnknown }) => isUnknown);
    this.reportUnknown(unknown, columns);
    const unused = mappings.find((mapping) => !used.has(mapping));
    if (unused) this.issues.add(missingColumn('--map', unused.column, names));
    if (unknown.length === 0 && !columns.some(({ field }) => field)) throw importError('No column would be imported.');
    if (!isLenient || ignoreUnknown) return columns;
    return columns.map((column) => (column.isUnknown ? { ...column, skipReason: 'Unknown column.' } : column));
  }

  /** Assigns a column by its name and its values. */
  private columnOf(column: CsvColumn): CsvColumn {
    const { name, index } = column;
    const facts = this.survey.facts.get(index);
    const meaning = this.meanings.get(name) ?? {};
    const skipReason = this.skipReason(meaning, facts);
    if (skipReason !== undefined) return { ...column, skipReason };
    const named = meaning.field;
    const field = named && (this.identifierField(named, name, facts) ?? named);
    // A file has one column of IDs. Further ones identify something else, such as a company.
    if (!field || (field !== named && this.hasIdentifier))
      return meaning.isState ? { ...column, use: 'counted' } : { ...column, isUnknown: true };
    if (this.isIdentifier(field)) this.hasIdentifier = true;
    return { ...column, field };
  }

  /** Why a column is left out although its name, or a word of it, is known. */
  private skipReason({ field, person, isOtherNumber }: NameMeaning, facts?: ColumnFacts): string | undefined {
    const { userFields = [], words } = this.csv.definition(this.format.section);
    if (field && userFields.includes(field.name) && facts && facts.values > 0 && facts.addresses === 0)
      return 'It has names instead of e-mail addresses.';
    if (person === 'buyer' && this.hasAttendee) return 'It is about the buyer, not about the attendee.';
    if (isOtherNumber) return 'A number of a fax or pager is not a phone number.';
    if (!words || field?.name !== words.titleField) return undefined;
    const isSalutation = (value: string): boolean =>
      value.split(/[\s./]+/).every((word) => word === '' || words.salutations.includes(word.toLowerCase()));
    return facts?.areMostly(isSalutation) ? 'Its values are salutations.' : undefined;
  }

  /** Adds to columns of numbers and addresses the columns that say of which kind these are, such as `Phone 1 - Type`. */
  private withTypes(columns: CsvColumn[]): CsvColumn[] {
    const isKind = (value: string): boolean => this.names.isKind(value);
    const { facts: allFacts } = this.survey;
    const unknown = columns.filter(({ isUnknown, index }) => isUnknown && allFacts.has(index));
    const types = unknown.flatMap((type) => {
      const facts = allFacts.get(type.index);
      const prefix = this.names.typedPrefix(type.name);
      return prefix && facts?.areMostly(isKind) ? [{ ...type, prefix, values: facts.differentValues }] : [];
    });
    return types.reduce((all, type) => all.map((column) => this.withType(column, type)), columns);
  }

  private withType(column: CsvColumn, type: CsvColumn & { prefix: string; values: string[] }): CsvColumn {
    const { name, index, field } = column;
    if (index === type.index) return { ...column, isUnknown: false, use: `kinds of ${quote(type.prefix)}` };
    const key = wordsOf(name).join('');
    // `Phone 2` is not of the kind that `Phone Type` says.
    if (!field || !key.startsWith(type.prefix) || /^\d/.test(key.slice(type.prefix.length))) return column;
    const fields = type.values.map((value) => [value, this.names.fieldOfType(field, value)] as const);
    const known = fields.filter((each): each is [string, CsvField | null] => each[1] !== undefined);
    return known.length === 0 ? column : { ...column, type: { index: type.index, fields: new Map(known) } };
  }

  private isIdentifier = (field: CsvField): boolean =>
    isIdentifier(this.csv.definition(this.format.section).identifiers, field);

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

  private reportUnknown(columns: CsvColumn[], all: CsvColumn[]): void {
    if (columns.length === 0) return;
    const { facts, header } = this.survey;
    const { identifiers } = this.csv.definition(this.format.section);
    const filled = new Set(all.map(({ field }) => field));
    const isFree = (field: CsvField): boolean => field.isList || !filled.has(field);
    const names = [...this.csv.fieldsByName(this.format.section)]
      .filter(([, field]) => isFree(field) && !this.isIdentifier(field) && field.name !== identifiers?.id)
      .map(([key, { name }]): [string, string] => [key, name]);
    const contacts = columns.filter(({ index }) => facts.get(index)?.hasContact);
    const limit = this.issues.reportsAll ? columns.length : Math.max(MAX_LISTED, contacts.length);
    const unknown = contactsFirst(columns, facts).map(({ name }) => name);
    const suggestions = new Map(unknown.slice(0, limit).map((column) => [column, this.suggestionFor(column, names)]));
    const reported = unknown.slice(0, limit).map((column): LocatedIssue => {
      const suggestion = suggestions.get(column);
      const message = suggestion ? `Unknown column. Did you mean ${suggestion}?` : 'Unknown column.';
      return { ...NO_LOCATION, line: header.line, column, expected: suggestion ?? 'the name of a field', message };
    });
    const nameOf = (column: string): string => {
      const suggestion = suggestions.get(column);
      return suggestion ? `${quote(column)} (did you mean ${suggestion}?)` : quote(column);
    };
    const count = columns.length;
    const what = count === 1 ? 'Unknown column' : `${count.toLocaleString('en-US')} unknown columns`;
    const advice = 'Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.';
    const text = `line ${header.line}: ${what}: ${listNames(unknown, nameOf, limit)}. ${advice}`;
    // A likely typing error is only named: a command that fills a field by likeness could store a number as a name.
    this.issues.setColumnIssues(reported, count - reported.length, text, ['--ignore-unknown']);
  }

  /** The field whose name has a typing error. A name that differs more means something else: `Position ID` is no position. */
  private suggestionFor(column: string, names: [string, string][]): string | undefined {
    return columnKey(column).length < MIN_SUGGESTED_LENGTH ? undefined : closestName(column, names, 1);
  }
}

/** An option names a column that the file does not have. */
export function missingColumn(option: string, column: string, names: readonly string[]): LocatedIssue {
  const inFile = listNames(names.filter((name) => name.trim() !== ''));
  const message = `${option}: The file has no column ${quote(column)}. Its columns are ${inFile}.`;
  return { ...NO_LOCATION, expected: 'a column of the file', message };
}

/** Whether a field holds the IDs that another program has assigned. */
export const isIdentifier = (identifiers: CsvIdentifiers | undefined, { name }: CsvField): boolean =>
  name === identifiers?.ref || (identifiers?.systems ?? []).some(({ field }) => field === name);

/** Why a number is left out that is of a kind at which nobody answers. */
export const otherNumberReason = (kind: string): string => `${quote(kind)} is not a phone number.`;

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
  const filled = columns.filter(({ field, index }) => field && facts.get(index)?.values);
  const withOnly = (kind: 'timesOnly' | 'datesOnly'): CsvColumn[] =>
    filled.filter(({ index }) => facts.get(index)?.[kind] === facts.get(index)?.values);
  const [dates, times] = [withOnly('datesOnly'), withOnly('timesOnly')];
  if (dates.length === 0 || times.length === 0) return columns;
  const partner = (column: CsvColumn, own: CsvColumn[], others: CsvColumn[]): CsvColumn | undefined => {
    const isOfField = ({ field }: CsvColumn): boolean => field === column.field;
    const [other, ...more] = others.filter(isOfField);
    return own.includes(column) && own.filter(isOfField).length === 1 && more.length === 0 ? other : undefined;
  };
  return columns.map((column) => {
    const date = partner(column, times, dates);
    if (date) return { ...column, field: undefined, use: `times of ${quote(date.name)}` };
    const time = partner(column, dates, times);
    return time ? { ...column, timeIndex: time.index } : column;
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
