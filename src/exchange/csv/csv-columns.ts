import { importError, type IssueCollector, type LocatedIssue, NO_LOCATION } from '../datasets/import-error';
import { isDateOnly, isTimeOnly } from './date-times';
import { quote } from '../datasets/quote';
import { isTypingError, wordsOf } from '../datasets/similar-names';
import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import { salutations } from './words.json';
import type { CsvColumn, CsvFormat } from './csv-options';
import { type ColumnNames, isKind, isState, type NameMeaning, typedPrefix } from './column-names';
import type { CsvDefinition, CsvIdentifiers, ExternalSystem } from './csv-section';
import { type ColumnFacts, hasNoAt } from './column-facts';
import type { Survey } from './csv-survey';
import { fieldNamed } from './csv.service';

/** A shorter name could be a typing error of too many other names. */
const MIN_SUGGESTED_LENGTH = 4;

/** How many names a message lists. */
const MAX_LISTED = 10;

/** A file with this many of the columns that a program's files usually have is from that program. */
const MIN_USUAL_COLUMNS = 2;

/** The first of the texts, and how many more there are. */
export function listTexts(texts: readonly string[], count = texts.length, limit = MAX_LISTED): string {
  const moreCount = count - limit;
  const listed = texts.slice(0, limit).join(', ');
  return moreCount > 0 ? `${listed} and ${moreCount.toLocaleString('en-US')} more` : listed;
}

/** Assigns the columns of a file to fields. */
export class ColumnAssignment {
  private readonly definition: CsvDefinition;
  /** What the name of each column means in this file. */
  private readonly meanings: ReadonlyMap<string, NameMeaning>;
  private hasIdentifier = false;

  constructor(
    private readonly format: CsvFormat,
    private readonly survey: Survey,
    private readonly names: ColumnNames,
    private readonly issues: IssueCollector,
  ) {
    this.definition = names.section.definition;
    this.meanings = names.meaningsOf(survey.header.names);
  }

  /**
   * Assigns columns by `--map` first, and then by the names of fields. Columns without a name and a value are left out.
   * @throws ImportError if no column would be imported
   */
  assign(): CsvColumn[] {
    const { header, facts } = this.survey;
    const { mappings, ignoreUnknown, lenient } = this.format;
    const timesSeen = new Map<string, number>();
    const unused = new Set(mappings);
    const columns: CsvColumn[] = [];
    for (const [index, given] of header.names.entries()) {
      const isNameless = given.trim() === '';
      if (isNameless && !facts.get(index)?.values) continue;
      const name = isNameless ? `Column ${index + 1}` : given;
      const key = columnKey(name);
      const nth = (timesSeen.get(key) ?? 0) + 1;
      timesSeen.set(key, nth);
      const column: CsvColumn = { name, index, nth, facts: facts.get(index), field: undefined };
      const mapped = mappingsOf(mappings, name, nth);
      for (const mapping of mapped) {
        unused.delete(mapping);
        columns.push({ ...column, field: mapping.field });
      }
      if (mapped.length === 0) columns.push(Object.assign(column, this.purposeOf(column)));
    }
    joinTimes(columns);
    this.addTypes(columns);
    const unknown = ignoreUnknown ? [] : columns.filter(({ isUnknown }) => isUnknown);
    if (lenient) for (const column of unknown) column.skipReason = 'Unknown column.';
    else this.reportUnknown(unknown, columns);
    const [missing] = unused;
    if (missing) this.issues.add(missingColumn('--map', missing.column, header.names));
    const isRejected = unknown.length > 0 && !lenient;
    if (!isRejected && !columns.some(({ field }) => field)) throw importError('No column would be imported.');
    return columns;
  }

  /** What a column is for, by its name and its values. */
  private purposeOf(column: CsvColumn): Partial<CsvColumn> {
    const { name, facts } = column;
    const { field: named, skipReason = skipReasonOf(this.definition, named, facts) } = this.meanings.get(name) ?? {};
    if (skipReason !== undefined) return { skipReason };
    const field = named && (this.identifierField(named, column) ?? named);
    // A file has one column of IDs. Further ones identify something else, such as a company.
    if (!field || (field !== named && this.hasIdentifier))
      return isState(name) ? { use: 'counted' } : { isUnknown: true };
    this.hasIdentifier ||= isIdentifier(this.definition.identifiers, field);
    return { field };
  }

  /** Adds to columns of numbers and addresses the columns that say of which kind these are, such as `Phone 1 - Type`. */
  private addTypes(columns: CsvColumn[]): void {
    for (const typeColumn of columns) {
      const { isUnknown, name, index, facts } = typeColumn;
      const prefix = typedPrefix(name);
      if (!isUnknown || prefix === undefined || !facts?.areMostly(isKind)) continue;
      typeColumn.isUnknown = false;
      typeColumn.use = `kinds of ${quote(prefix)}`;
      for (const column of columns) {
        const key = wordsOf(column.name).join('');
        // `Phone 2` is not of the kind that `Phone Type` says.
        if (!column.field || !key.startsWith(prefix) || /^\d/.test(key.slice(prefix.length))) continue;
        const fields = new Map<string, CsvField | null>();
        for (const kind of facts.differentValues) {
          const field = this.names.fieldOfType(column.field, kind);
          if (field !== undefined) fields.set(kind, field);
        }
        if (fields.size > 0) column.type = { index, fields };
      }
    }
  }

  /** The field of a column of IDs that Lanyard has not assigned, which depends on what has. */
  private identifierField(named: CsvField, column: CsvColumn): CsvField | undefined {
    const { identifiers } = this.definition;
    // Beside IDs of Lanyard, any other value is an error.
    if (named.name !== identifiers?.id || !column.facts || column.facts.uuids > 0) return undefined;
    const isKnown = this.format.source === undefined;
    const system = isKnown ? identifiers.systems.find((each) => this.isOfSystem(each, column)) : undefined;
    return fieldNamed(this.names.section, system?.field ?? identifiers.ref);
  }

  private isOfSystem(
    { idPattern, idColumns = [], usualColumns = [] }: ExternalSystem,
    { name, facts }: CsvColumn,
  ): boolean {
    if (idPattern) return facts?.areAll(idPattern) ?? false;
    if (!idColumns.map(columnKey).includes(columnKey(name))) return false;
    const names = this.survey.header.names.map(columnKey);
    return usualColumns.filter((each) => names.includes(columnKey(each))).length >= MIN_USUAL_COLUMNS;
  }

  private reportUnknown(unknown: CsvColumn[], columns: CsvColumn[]): void {
    if (unknown.length === 0) return;
    const { line } = this.survey.header;
    const contactCount = unknown.filter(({ facts }) => facts?.hasContact).length;
    const limit = this.issues.reportsAll ? unknown.length : Math.max(MAX_LISTED, contactCount);
    const filled = new Set(columns.map(({ field }) => field));
    const texts: string[] = [];
    const reported = contactsFirst(unknown)
      .slice(0, limit)
      .map(({ name }): LocatedIssue => {
        const suggestion = this.suggestionFor(name, filled);
        texts.push(suggestion ? `${quote(name)} (did you mean ${suggestion}?)` : quote(name));
        const message = suggestion ? `Unknown column. Did you mean ${suggestion}?` : 'Unknown column.';
        const expected = suggestion ?? 'the name of a field';
        return { ...NO_LOCATION, line, column: name, expected, message, fix: '--ignore-unknown' };
      });
    const count = unknown.length;
    const what = count === 1 ? 'Unknown column' : `${count.toLocaleString('en-US')} unknown columns`;
    const advice = 'Skip all unknown columns with --ignore-unknown, or assign a column to a field with --map.';
    const text = `line ${line}: ${what}: ${listTexts(texts, count, limit)}. ${advice}`;
    // A likely typing error is only named: a command that fills a field by likeness could store a number as a name.
    this.issues.setColumnIssues(reported, count - reported.length, text);
  }

  /** The field in whose name there is a typing error. A name that differs more means something else: `Position ID` is no position. */
  private suggestionFor(name: string, filled: Set<CsvField | undefined>): string | undefined {
    const key = columnKey(name);
    if (key.length < MIN_SUGGESTED_LENGTH) return undefined;
    const { identifiers } = this.definition;
    const isFree = (field: CsvField): boolean =>
      (field.isList || !filled.has(field)) && field.name !== identifiers?.id && !isIdentifier(identifiers, field);
    const names = [...this.names.section.fieldsByName];
    return names.find(([known, field]) => isTypingError(key, known) && isFree(field))?.[1].name;
  }
}

/** Why the values of a column are left out although its name is that of a field. */
function skipReasonOf({ userFields = [], person }: CsvDefinition, field?: CsvField, facts?: ColumnFacts) {
  if (!field || !facts) return undefined;
  if (userFields.includes(field.name) && facts.areAll(hasNoAt)) return 'It has names instead of e-mail addresses.';
  const isSalutation = (value: string): boolean =>
    value.split(/[\s./]+/).every((word) => word === '' || salutations.includes(word.toLowerCase()));
  if (field.name === person?.titleField && facts.areMostly(isSalutation)) return 'Its values are salutations.';
  return undefined;
}

/** An option names a column that the file does not have. */
export function missingColumn(option: string, column: string, names: readonly string[]): LocatedIssue {
  const inFile = listTexts(names.filter((name) => name.trim() !== '').map(quote));
  const message = `${option}: The file has no column ${quote(column)}. Its columns are ${inFile}.`;
  return { ...NO_LOCATION, expected: 'a column of the file', message };
}

/** Whether a field holds the IDs that another program has assigned. */
export const isIdentifier = (identifiers: CsvIdentifiers | undefined, { name }: CsvField): boolean =>
  name === identifiers?.ref || (identifiers?.systems ?? []).some(({ field }) => field === name);

/** Why a number is left out that is of a kind at which nobody answers. */
export const otherNumberReason = (kind: string): string => `${quote(kind)} is not a phone number.`;

/** Columns whose values look like a way to reach somebody, and then the others. */
export const contactsFirst = (columns: readonly CsvColumn[]): CsvColumn[] => [
  ...columns.filter(({ facts }) => facts?.hasContact),
  ...columns.filter(({ facts }) => !facts?.hasContact),
];

/** Joins a column of dates and one of times where a field has one of each. */
function joinTimes(columns: CsvColumn[]): void {
  const withOnly = (isOfKind: (value: string) => boolean): CsvColumn[] =>
    columns.filter(({ field, facts }) => field && facts?.areAll(isOfKind));
  const [dates, times] = [withOnly(isDateOnly), withOnly(isTimeOnly)];
  for (const date of dates) {
    const [time, ...others] = [...times, ...dates].filter(({ field }) => field === date.field);
    if (!time || !times.includes(time) || others.length > 1) continue;
    date.timeIndex = time.index;
    time.field = undefined;
    time.use = `times of ${quote(date.name)}`;
  }
}
