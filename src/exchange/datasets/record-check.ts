import { fieldErrors, firstError, isObject, toInstance } from '../../fields/field-rules';
import { isStorableText } from '../../fields/text';
import { unknownPaths } from '../../fields/unknown-fields';
import { isTypingError, normalizedName } from './similar-names';
import type { ImportPlan, RecordLocation } from './import-plan';
import { type Datasets, orderInFile, type ReadOnlyFields } from './dataset';
import { describeError, unstorableText, type ValueProblem } from './expectation';
import type { LocatedIssue } from './import-error';
import { quoteShortened } from './quote';
import { fieldsIn, READ_ONLY_COLUMN } from './tables';

/** How deep a record may be nested, and how many keys it may have with all objects in it. */
const MAX_DEPTH = 100;
const MAX_KEYS = 10_000;

/** What the check of a record has found. */
export interface CheckedRecord {
  /** Undefined if the value is no record. */
  record?: object;
  issues: LocatedIssue[];
}

/** Checks records one by one, each by itself. */
export class RecordCheck {
  private readonly pathsBySection = new Map<string, Map<string, string>>();

  constructor(
    readonly datasets: Datasets,
    readonly plan: ImportPlan,
  ) {}

  check(location: RecordLocation, raw: unknown): CheckedRecord {
    if (!isObject(raw)) return { issues: [this.noObject(location, raw)] };
    const excess = excessOf(raw);
    if (excess) return { issues: [issueAt(this, location, '', null, () => excess)] };
    const { record: type, readOnlyFields } = this.datasets.of(location.section);
    const record = toInstance(type, raw);
    if (this.plan.isPartial) return { record, issues: this.invalidFields(location, record) };
    const readOnly = readOnlyFields && readOnlyValues(raw, readOnlyFields);
    const issues = [
      ...this.unknownFields(location, raw, record, readOnlyFields),
      ...this.invalidFields(location, record),
      // PostgreSQL could not even compare them with what is stored.
      ...Object.entries(readOnly ?? {})
        .filter(([, value]) => hasUnstorableText(value))
        .map(([path, value]) => issueAt(this, location, path, value, unstorableText)),
    ];
    // What the file says of read-only fields is compared with what is stored when all is written.
    if (readOnly && issues.length === 0) Object.assign(record, { [READ_ONLY_COLUMN]: readOnly });
    return { record, issues };
  }

  private noObject(location: RecordLocation, raw: unknown): LocatedIssue {
    return issueAt(this, location, '', raw, (value) => ({
      message: `${value} is not a record. Use an object.`,
      expected: 'an object',
    }));
  }

  private invalidFields(location: RecordLocation, record: object): LocatedIssue[] {
    const isChecked = (path: string): boolean => this.plan.providesField(path);
    // Most records are valid, and this is the fast way to see it.
    if (firstError(record, isChecked) === undefined) return [];
    return [...fieldErrors(record)]
      .filter(({ path }) => isChecked(path))
      .map((error) => issueAt(this, location, error.path, error.value, (value) => describeError(error, value)));
  }

  /** The fields of the file that neither the record has nor GET shows. */
  private unknownFields(
    location: RecordLocation,
    raw: object,
    record: object,
    { paths }: Pick<ReadOnlyFields, 'paths'> = { paths: [] },
  ): LocatedIssue[] {
    return unknownPaths(raw, record)
      .filter((path) => !paths.includes(path.replace(/\[\d+\]/g, '')))
      .map((path) => {
        const suggestion = this.suggestionFor(location.section, path);
        return issueAt(this, location, path, null, () => ({
          message: suggestion ? `not a field; did you mean ${suggestion}?` : 'not a field',
          expected: suggestion ?? `a field of ${location.section}`,
        }));
      });
  }

  private suggestionFor(section: string, path: string): string | undefined {
    if (path.includes('[')) return undefined;
    const paths = this.pathsByName(section);
    const name = normalizedName(path);
    return paths.get(name) ?? [...paths].find(([known]) => isTypingError(name, known))?.[1];
  }

  /** The paths of fields by all their normalized names. */
  private pathsByName(section: string): Map<string, string> {
    const known = this.pathsBySection.get(section);
    if (known) return known;
    const { record, aliases = {}, paths = {} } = this.datasets.of(section);
    const recordPaths = [...fieldsIn(record).keys()];
    // Some aliases are of fields that only CSV has.
    const ofAliases = recordPaths.flatMap((path) => (aliases[path] ?? []).map((name) => [name, path]));
    const all = [...ofAliases, ...Object.entries(paths), ...recordPaths.map((path) => [path, path])];
    const byName = new Map(all.map(([name = '', path = '']) => [normalizedName(name), path]));
    this.pathsBySection.set(section, byName);
    return byName;
  }
}

/**
 * The error at a path of a record.
 * @param describe gets the value as the message shows it
 */
export function issueAt(
  { datasets, plan }: Pick<RecordCheck, 'datasets' | 'plan'>,
  location: RecordLocation,
  path: string,
  value: unknown,
  describe: (value: string) => ValueProblem,
): LocatedIssue {
  const { isValueHidden, ...place } = plan.locateError(location, path);
  return {
    order: orderInFile(datasets, location),
    ...place,
    value: isValueHidden ? null : (value ?? null),
    ...describe(isValueHidden ? 'This value' : quoteShortened(value)),
  };
}

/** What a record has too much of. It is looked at level by level: to recurse into one that is too deep would fill the stack. */
function excessOf(record: object): ValueProblem | undefined {
  let level = [record];
  let keys = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      const expected = `at most ${MAX_DEPTH} levels`;
      return { message: `This record is nested too deeply. Use ${expected}.`, expected };
    }
    const next: object[] = [];
    for (const parent of level) {
      const values: unknown[] = Object.values(parent);
      if (!Array.isArray(parent)) keys += values.length;
      for (const value of values) if (typeof value === 'object' && value !== null) next.push(value);
    }
    if (keys > MAX_KEYS) {
      const expected = `at most ${MAX_KEYS.toLocaleString('en-US')} keys`;
      return { message: `This record has too many keys. Use ${expected}.`, expected };
    }
    level = next;
  }
  return undefined;
}

/** What the file says of read-only fields; undefined if it has none of them. */
function readOnlyValues(raw: object, { paths }: ReadOnlyFields): object | undefined {
  const values: Record<string, unknown> = {};
  for (const path of paths) {
    const [name = '', entryField] = path.split('.', 2);
    const value = (raw as Record<string, unknown>)[name];
    if (entryField === undefined ? value !== undefined : hasEntryWith(value, entryField)) values[name] = value;
  }
  return Object.keys(values).length > 0 ? values : undefined;
}

const hasEntryWith = (value: unknown, field: string): boolean =>
  Array.isArray(value) && value.some((entry) => isObject(entry) && field in entry);

/** Whether a value has a text that PostgreSQL and JSON cannot hold. */
function hasUnstorableText(value: unknown): boolean {
  if (typeof value === 'string') return !isStorableText(value);
  return isObject(value) || Array.isArray(value) ? Object.values(value).some(hasUnstorableText) : false;
}
