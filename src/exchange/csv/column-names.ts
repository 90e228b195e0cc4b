import { wordsOf } from '../datasets/similar-names';
import words from './words.json';
import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { ColumnMapping } from './csv-options';
import type { PersonFields } from './csv-section';
import type { CsvSection } from './csv.service';

/** What the name of a column says about its values. */
export interface NameMeaning {
  field?: CsvField;
  /** Why they are left out although the name, or a word of it, is known. */
  skipReason?: string;
  /** Whether they are about the person who comes, or about somebody else who has paid. */
  person?: 'attendee' | 'buyer';
  /** The first word, if it says so, and the field that is known by the whole name nevertheless. */
  prefix?: string;
  own?: CsvField;
}

const STATE_KEYS = new Set(words.stateColumns.map(columnKey));
const ITEM_KEYS = new Set(words.itemNames.map(columnKey));

const isNumeral = (word: string): boolean => /^\d+$/.test(word);

/** What names of columns mean in the files of a section. */
export class ColumnNames {
  private readonly fieldsByKey: Map<string, CsvField>;
  private readonly person: PersonFields | undefined;

  constructor(
    readonly section: CsvSection,
    private readonly mappings: ColumnMapping[],
  ) {
    this.fieldsByKey = section.fieldsByName;
    this.person = section.definition.person;
  }

  /** Whether a text is the name of a column that is known as it stands. */
  isKnown = (name: string): boolean =>
    this.fieldsByKey.has(columnKey(name)) || isState(name) || mappingsOf(this.mappings, name, 1).length > 0;

  /** Whether a text ends with a word with which names of columns end, and has neither digits nor an address. */
  isLikeName = (text: string): boolean => !/[\d@]/.test(text) && this.section.lastWords.has(wordsOf(text).at(-1) ?? '');

  /** What the names of a file mean together. */
  meaningsOf(names: string[]): ReadonlyMap<string, NameMeaning> {
    const inFile = new Set(names.map(columnKey));
    const foreign = words.foreignColumns.filter(({ beside }) => inFile.has(columnKey(beside)));
    const foreignKeys = new Set(foreign.flatMap((each) => each.names.map(columnKey)));
    const meanings = new Map<string, NameMeaning>();
    for (const name of new Set(names)) {
      meanings.set(name, foreignKeys.has(columnKey(name)) ? {} : this.meaningOf(name));
    }
    const isPerson = ({ field }: NameMeaning): boolean =>
      field !== undefined && (this.person?.attendeeFields.test(field.name) ?? false);
    // `Billing City` is that of the company, unless a person is named beside it, as in `Billing First Name`.
    const buyers = [...meanings.values()].filter((each) => each.person === 'buyer' && isPerson(each));
    const buyerPrefixes = new Set(buyers.map(({ prefix }) => prefix));
    for (const [name, { own, prefix }] of meanings) {
      if (own && !buyerPrefixes.has(prefix)) meanings.set(name, { field: own });
    }
    const all = [...meanings.values()];
    const hasAttendee = all.some((each) => each.person === 'attendee' || (!each.person && isPerson(each)));
    for (const meaning of all) {
      if (hasAttendee && meaning.person === 'buyer')
        meaning.skipReason = 'It is about the buyer, not about the attendee.';
    }
    return meanings;
  }

  private meaningOf(name: string): NameMeaning {
    const known = this.fieldsByKey.get(columnKey(name));
    const own = known?.isExactName && known.name !== name.trim() ? undefined : known;
    // `Lead #` is a number, not a lead.
    const all = wordsOf(name.replace(/#\s*$/, ' number'));
    const [prefix = '', ...rest] = all;
    const isOfBuyer = words.buyerPrefixes.includes(prefix);
    if (own && !isOfBuyer) return { field: own };
    if (isOtherNumber(all)) return { skipReason: 'A number of a fax or pager is not a phone number.' };
    if (rest.length === 0) return { field: own };
    if ((isOfBuyer || words.attendeePrefixes.includes(prefix)) && !ITEM_KEYS.has(columnKey(name))) {
      const field = this.fieldOfWords(rest);
      if (field && this.person?.prefixedFields.test(field.name))
        return { field, own, prefix, person: isOfBuyer ? 'buyer' : 'attendee' };
    }
    return { field: own ?? this.fieldOfWords(all) };
  }

  /** The field of a name such as `Private Phone 2`: that of `Phone`, or the one for numbers of that kind. */
  private fieldOfWords(all: string[]): CsvField | undefined {
    const known = this.fieldsByKey.get(all.join(''));
    if (known) return known;
    const [kind, kindWords = []] = kindOf(all) ?? [];
    const base = this.fieldsByKey.get(all.filter((word) => !isNumeral(word) && !kindWords.includes(word)).join(''));
    if (kind !== undefined) return base && this.fieldOfKind(base, kind);
    return base?.isList && all.some(isNumeral) ? base : undefined;
  }

  private fieldOfKind = ({ name }: CsvField, kind: string): CsvField | undefined =>
    this.fieldsByKey.get(columnKey(this.person?.kindFields[name]?.[kind] ?? ''));

  /**
   * The field that a number or an address fills, by what another column says of its kind: null for a number at which
   * nobody answers, undefined if the text names no kind.
   */
  fieldOfType(field: CsvField, type: string): CsvField | null | undefined {
    const all = wordsOf(type);
    if (isOtherNumber(all)) return null;
    const [kind] = kindOf(all) ?? [];
    return kind === undefined ? undefined : this.fieldOfKind(field, kind);
  }
}

/** Whether a column of this name says what has become of each row, such as `Approved`. */
export const isState = (name: string): boolean => STATE_KEYS.has(columnKey(name));

/** Whether the title of a table names others than those who come, such as `Panelist Details`. */
export const isOtherTable = (title: string): boolean => wordsOf(title).some((word) => words.otherTables.includes(word));

/** The kind of number or address that words name, such as `home`, and all words for it. */
const kindOf = (all: string[]): [kind: string, kindWords: string[]] | undefined =>
  Object.entries(words.kinds).find(([, known]) => all.some((word) => known.includes(word)));

/** Whether words name a number at which nobody answers, such as `fax`. */
const isOtherNumber = (all: string[]): boolean => all.some((word) => words.otherNumbers.includes(word));

/** Whether a text names a kind of number or address. */
export const isKind = (text: string): boolean => isOtherNumber(wordsOf(text)) || kindOf(wordsOf(text)) !== undefined;

/** The start of a name such as `Phone 1 - Type`, if it is that of a column of kinds. */
export function typedPrefix(name: string): string | undefined {
  const all = wordsOf(name);
  const isType = all.length > 1 && words.typeNames.includes(all.pop() ?? '');
  return isType ? all.join('') : undefined;
}
