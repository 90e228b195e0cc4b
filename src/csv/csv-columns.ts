import { closestName } from '../datasets/closest-name';
import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { quote, quoteShortened } from '../datasets/quote';
import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { CsvColumn, CsvFormat } from './csv-options';
import { type ColumnNames, type NameMeaning, wordsOf } from './column-names';
import type { CsvDefinition, CsvIdentifiers, ExternalSystem } from './csv-section';
import type { ColumnFacts, Survey } from './csv-survey';
import { type CsvSection, fieldNamed } from './csv.service';

/** A shorter name could be a typing error of too many other names. */
const MIN_SUGGESTED_LENGTH = 4;

/** How many names a message lists. */
const MAX_LISTED = 10;

/** A file with this many of the columns that a program's files usually have is from that program. */
const MIN_USUAL_COLUMNS = 2;

/** The first columns of the list of what an import has left out. */
export const LEFT_OUT_COLUMNS = ['line', 'column', 'value', 'reason'];

/** The names of a file's own columns, without those that a list of left-out values adds. */
export function ownNames(names: string[]): string[] {
  const own = names.slice(LEFT_OUT_COLUMNS.length);
  const isList = own.length > 0 && LEFT_OUT_COLUMNS.every((name, index) => names[index]?.trim() === name);
  return isList ? own : names;
}

const withMore = (listed: string[], count: number): string => {
  const moreCount = count - listed.length;
  return listed.join(', ') + (moreCount > 0 ? ` and ${moreCount.toLocaleString('en-US')} more` : '');
};

/** The first of the names in quotes, and how many more there are. */
export const listNames = (names: string[], nameOf: (name: string) => string = quote): string =>
  withMore(names.slice(0, MAX_LISTED).map(nameOf), names.length);

/** Assigns the columns of a file to fields. */
export class ColumnAssignment {
  private readonly definition: CsvDefinition;
  /** What the name of each column means in this file. */
  private readonly meanings: ReadonlyMap<string, NameMeaning>;
  private hasIdentifier = false;

  constructor(
    private readonly section: CsvSection,
    private readonly format: CsvFormat,
    private readonly survey: Survey,
    private readonly names: ColumnNames,
    private readonly issues: IssueCollector,
  ) {
    this.definition = section.definition;
    this.meanings = names.meaningsOf(survey.header.names);
  }

  /**
   * Assigns columns by `--map` first, and then by the names of fields. Columns without a name are left out.
   * @throws ImportError if no column would be imported
   */
  assign(): CsvColumn[] {
    const { names } = this.survey.header;
    const { mappings, ignoreUnknown, isLenient } = this.format;
    const firstIndex = names.length - ownNames(names).length;
    const timesSeen = new Map<string, number>();
    const unused = new Set(mappings);
    const assigned: CsvColumn[] = [];
    for (const [index, name] of names.entries()) {
      if (name.trim() === '' || index < firstIndex) continue;
      const key = columnKey(name);
      const nth = (timesSeen.get(key) ?? 0) + 1;
      timesSeen.set(key, nth);
      const column = { name, index, nth, field: undefined };
      const mapped = mappingsOf(mappings, name, nth);
      for (const mapping of mapped) {
        unused.delete(mapping);
        assigned.push({ ...column, field: mapping.field });
      }
      if (mapped.length === 0) assigned.push(this.columnOf(column));
    }
    const columns = this.withTypes(joinTimes(assigned, this.survey.facts));
    const unknown = ignoreUnknown || isLenient ? [] : columns.filter(({ isUnknown }) => isUnknown);
    this.reportUnknown(unknown, columns);
    const [missing] = unused;
    if (missing) this.issues.add(missingColumn('--map', missing.column, names));
    if (unknown.length === 0 && !columns.some(({ field }) => field)) throw importError('No column would be imported.');
    if (!isLenient || ignoreUnknown) return columns;
    return columns.map((column) => (column.isUnknown ? { ...column, skipReason: 'Unknown column.' } : column));
  }

  /** Assigns a column by its name and its values. */
  private columnOf(column: CsvColumn): CsvColumn {
    const { name, index } = column;
    const facts = this.survey.facts.get(index);
    const {
      field: named,
      isState,
      skipReason = skipReasonOf(this.definition, named, facts),
    } = this.meanings.get(name) ?? {};
    if (skipReason !== undefined) return { ...column, skipReason };
    const field = named && (this.identifierField(named, name, facts) ?? named);
    // A file has one column of IDs. Further ones identify something else, such as a company.
    if (!field || (field !== named && this.hasIdentifier))
      return isState ? { ...column, use: 'counted' } : { ...column, isUnknown: true };
    this.hasIdentifier ||= isIdentifier(this.definition.identifiers, field);
    return { ...column, field };
  }

  /** Adds to columns of numbers and addresses the columns that say of which kind these are, such as `Phone 1 - Type`. */
  private withTypes(columns: CsvColumn[]): CsvColumn[] {
    let typed = columns;
    for (const { isUnknown, name, index } of columns) {
      const facts = this.survey.facts.get(index);
      const prefix = this.names.typedPrefix(name);
      if (!isUnknown || prefix === undefined || !facts?.areMostly(this.names.isKind)) continue;
      typed = typed.map((column) => {
        if (column.index === index) return { ...column, isUnknown: false, use: `kinds of ${quote(prefix)}` };
        const key = wordsOf(column.name).join('');
        // `Phone 2` is not of the kind that `Phone Type` says.
        const isTyped = key.startsWith(prefix) && !/^\d/.test(key.slice(prefix.length));
        return isTyped ? this.withType(column, index, facts.differentValues) : column;
      });
    }
    return typed;
  }

  private withType(column: CsvColumn, index: number, kinds: string[]): CsvColumn {
    const fields = new Map<string, CsvField | null>();
    for (const kind of kinds) {
      const field = column.field && this.names.fieldOfType(column.field, kind);
      if (field !== undefined) fields.set(kind, field);
    }
    return fields.size === 0 ? column : { ...column, type: { index, fields } };
  }

  /** The field of a column of IDs, which depends on what assigned the IDs. */
  private identifierField(named: CsvField, name: string, facts?: ColumnFacts): CsvField | undefined {
    const { identifiers } = this.definition;
    if (named.name !== identifiers?.id || !facts || facts.values === facts.uuids) return undefined;
    if (facts.uuids > 0) {
      if (!this.format.isLenient) this.issues.add(mixedIds(name, facts));
      return undefined;
    }
    const isKnown = this.format.source === undefined;
    const system = isKnown ? identifiers.systems.find((each) => this.isOfSystem(each, name, facts)) : undefined;
    return fieldNamed(this.section, system?.field ?? identifiers.ref);
  }

  private isOfSystem(
    { idPattern, idColumns = [], usualColumns = [] }: ExternalSystem,
    name: string,
    facts: ColumnFacts,
  ) {
    if (idPattern) return facts.patterns.has(idPattern);
    if (!idColumns.map(columnKey).includes(columnKey(name))) return false;
    const names = this.survey.header.names.map(columnKey);
    return usualColumns.filter((each) => names.includes(columnKey(each))).length >= MIN_USUAL_COLUMNS;
  }

  private reportUnknown(unknown: CsvColumn[], columns: CsvColumn[]): void {
    if (unknown.length === 0) return;
    const { facts, header } = this.survey;
    const { line } = header;
    const contacts = unknown.filter(({ index }) => facts.get(index)?.hasContact);
    const limit = this.issues.reportsAll ? unknown.length : Math.max(MAX_LISTED, contacts.length);
    const free = this.freeNames(columns);
    const listed = contactsFirst(unknown, facts)
      .slice(0, limit)
      .map(({ name }) => ({ name, suggestion: suggestionFor(name, free) }));
    const reported = listed.map(({ name, suggestion }): LocatedIssue => {
      const message = suggestion ? `Unknown column. Did you mean ${suggestion}?` : 'Unknown column.';
      return { ...NO_LOCATION, line, column: name, expected: suggestion ?? 'the name of a field', message };
    });
    const shown = listed.map(({ name, suggestion }) =>
      suggestion ? `${quote(name)} (did you mean ${suggestion}?)` : quote(name),
    );
    const count = unknown.length;
    const what = count === 1 ? 'Unknown column' : `${count.toLocaleString('en-US')} unknown columns`;
    const advice = 'Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.';
    const text = `line ${line}: ${what}: ${withMore(shown, count)}. ${advice}`;
    // A likely typing error is only named: a command that fills a field by likeness could store a number as a name.
    this.issues.setColumnIssues(reported, count - reported.length, text, ['--ignore-unknown']);
  }

  /** The names of fields that a further column could fill, but for those of IDs. */
  private freeNames(columns: CsvColumn[]): [normalized: string, name: string][] {
    const { identifiers } = this.definition;
    const filled = new Set(columns.map(({ field }) => field));
    return [...this.section.fieldsByName].flatMap(([key, field]) => {
      const isOfId = isIdentifier(identifiers, field) || field.name === identifiers?.id;
      return isOfId || (filled.has(field) && !field.isList) ? [] : [[key, field.name]];
    });
  }
}

/** The field whose name has a typing error. A name that differs more means something else: `Position ID` is no position. */
const suggestionFor = (column: string, names: [string, string][]): string | undefined =>
  columnKey(column).length < MIN_SUGGESTED_LENGTH ? undefined : closestName(column, names, 1);

/** Why the values of a column are left out although its name is that of a field. */
function skipReasonOf({ userFields = [], words }: CsvDefinition, field?: CsvField, facts?: ColumnFacts) {
  if (!field || !facts) return undefined;
  if (userFields.includes(field.name) && facts.values > 0 && facts.addresses === 0)
    return 'It has names instead of e-mail addresses.';
  const isSalutation = (value: string): boolean =>
    value.split(/[\s./]+/).every((word) => word === '' || words?.salutations.includes(word.toLowerCase()));
  if (field.name === words?.titleField && facts.areMostly(isSalutation)) return 'Its values are salutations.';
  return undefined;
}

function mixedIds(column: string, { otherId }: ColumnFacts): LocatedIssue {
  const map = `--map ${quote(`${column}=ref`)}`;
  const message = `Some values are IDs of Lanyard and others, such as ${quoteShortened(otherId?.value)}, are not. Correct them, or read all of them as IDs of another program with ${map}.`;
  const expected = 'either IDs of Lanyard or those of another program';
  return { ...NO_LOCATION, ...otherId, column, expected, message };
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

/** Joins a column of dates and one of times where a field has one of each. */
function joinTimes(columns: CsvColumn[], facts: Map<number, ColumnFacts>): CsvColumn[] {
  const withOnly = (kind: 'timesOnly' | 'datesOnly'): CsvColumn[] =>
    columns.filter(({ field, index }) => {
      const known = facts.get(index);
      return field && known && known.values > 0 && known[kind] === known.values;
    });
  const [dates, times] = [withOnly('datesOnly'), withOnly('timesOnly')];
  const pairs = dates.flatMap((date) => {
    const [time, ...more] = [...times, ...dates].filter(({ field }) => field === date.field);
    return time && time !== date && more.length === 1 ? [{ date, time }] : [];
  });
  return columns.map((column) => {
    const pair = pairs.find(({ date, time }) => column === date || column === time);
    if (!pair) return column;
    const { date, time } = pair;
    if (column === date) return { ...column, timeIndex: time.index };
    return { ...column, field: undefined, use: `times of ${quote(date.name)}` };
  });
}
