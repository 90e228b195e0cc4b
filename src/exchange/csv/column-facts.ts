import { wordsOf } from '../datasets/similar-names';
import { isUuid } from '../../fields/text';
import { trimInvisible } from './csv-values';
import { type DateFormat, isDateOnly, isTimeOnly, possibleFormats } from './date-times';
import { companyForms, streets } from './words.json';

/** How many different values of a column are counted. */
export const MAX_COUNTED = 50;

const LINK_OR_EMAIL = /@|https?:|^www\.|^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,12}(?:\/\S*)?$/i;
const PHONE = /^(?:[+(0][\d\s()./-]{6,}|\d{3}[\s./-]\d{3}[\s./-]\d{4}|[2-9]\d{9})$/;

/** Whether a value looks like an address, a number to call, a link or a company. */
function isContact(value: string): boolean {
  if (LINK_OR_EMAIL.test(value) || (PHONE.test(value) && !isDateOnly(value))) return true;
  const words = wordsOf(value);
  if (words.length > 1 && companyForms.includes(words.at(-1) ?? '')) return true;
  const isStreet = (word: string): boolean =>
    streets.some((street) => word === street || (street.length > 4 && word.endsWith(street)));
  return /\d/.test(value) && words.some(isStreet);
}

/** Something that may be so for all values of a column. */
type Condition = (value: string) => boolean;

/** Whether a value is no e-mail address. */
export const hasNoAt: Condition = (value) => !value.includes('@');

/** What the values of a column have in common. */
export class ColumnFacts {
  /** How many cells have a value. */
  values = 0;
  uuids = 0;
  /** The orders of day and month that all dates may have whose form does not tell; undefined without such dates. */
  dateFormats: DateFormat[] | undefined;
  /** How often the first different values occur. */
  readonly counts = new Map<string, number>();
  /** The conditions and patterns that all values so far meet. */
  private readonly met: Set<Condition | RegExp>;

  /** @param idPatterns the forms of the IDs of known programs */
  constructor(idPatterns: RegExp[]) {
    this.met = new Set([hasNoAt, isDateOnly, isTimeOnly, ...idPatterns]);
  }

  add(cell: string): void {
    const value = trimInvisible(cell);
    if (value === '') return;
    this.values++;
    const count = this.counts.get(value);
    if (count !== undefined || this.counts.size < MAX_COUNTED) this.counts.set(value, (count ?? 0) + 1);
    if (isUuid(value)) this.uuids++;
    for (const each of this.met) {
      const isMet = typeof each === 'function' ? each(value) : each.test(value);
      if (!isMet) this.met.delete(each);
    }
    const formats = possibleFormats(value);
    if (formats.length > 0) this.dateFormats = this.dateFormats?.filter((each) => formats.includes(each)) ?? formats;
  }

  /** The only order of day and month that all dates allow. */
  get provenFormat(): DateFormat | undefined {
    return this.dateFormats?.length === 1 ? this.dateFormats[0] : undefined;
  }

  /** Whether all values meet a condition that is checked with each of them, and there are some. */
  areAll = (condition: Condition | RegExp): boolean => this.values > 0 && this.met.has(condition);

  /** Whether most values meet a condition. */
  areMostly = (condition: Condition): boolean => this.countOf(condition) * 2 > this.values;

  /** How many of the counted values meet a condition. */
  countOf = (condition: Condition): number =>
    [...this.counts].reduce((sum, [value, count]) => sum + (condition(value) ? count : 0), 0);

  get differentValues(): string[] {
    return [...this.counts.keys()];
  }

  /** Whether some values look like a way to reach somebody. */
  get hasContact(): boolean {
    return this.differentValues.some(isContact);
  }
}
