import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { ColumnMapping } from './csv-options';
import { type ColumnWords, NO_WORDS } from './csv-section';
import type { CsvSection } from './csv.service';

/** What the name of a column says about its values. */
export interface NameMeaning {
  field?: CsvField;
  /** Whether they say what has become of each row. */
  isState?: boolean;
  /** Why they are left out although the name, or a word of it, is known. */
  skipReason?: string;
  /** Whether they are about the person who comes, or about somebody else who has paid. */
  person?: 'attendee' | 'buyer';
  /** The first word, if it says so, and the field that is known by the whole name nevertheless. */
  prefix?: string;
  own?: CsvField;
}

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const isNumeral = (word: string): boolean => /^\d+$/.test(word);

/** What names of columns mean in the files of a section. */
export class ColumnNames {
  readonly words: ColumnWords;
  private readonly fieldsByKey: Map<string, CsvField>;
  private readonly stateKeys: Set<string>;
  private readonly itemKeys: Set<string>;

  constructor(
    private readonly section: CsvSection,
    private readonly mappings: ColumnMapping[],
  ) {
    this.fieldsByKey = section.fieldsByName;
    this.words = section.definition.words ?? NO_WORDS;
    this.stateKeys = new Set(this.words.stateColumns.map(columnKey));
    this.itemKeys = new Set(this.words.itemNames.map(columnKey));
  }

  /** Whether a text is the name of a column that is known as it stands. */
  isKnown = (name: string): boolean =>
    this.fieldsByKey.has(columnKey(name)) || this.isState(name) || mappingsOf(this.mappings, name, 1).length > 0;

  /** Whether a text ends with a word with which names of columns end, and has neither digits nor an address. */
  isLikeName = (text: string): boolean => !/[\d@]/.test(text) && this.section.lastWords.has(wordsOf(text).at(-1) ?? '');

  /** Whether a column of this name says what has become of each row, such as `Approved`. */
  isState = (name: string): boolean => this.stateKeys.has(columnKey(name));

  /** Whether the title of a table names others than those who come, such as `Panelist Details`. */
  isOtherTable = (title: string): boolean => wordsOf(title).some((word) => this.words.otherTables.includes(word));

  /** What the names of a file mean together. */
  meaningsOf(names: string[]): ReadonlyMap<string, NameMeaning> {
    const { attendeeFields, foreignColumns } = this.words;
    const inFile = new Set(names.map((name) => name.trim().toUpperCase()));
    const foreign = foreignColumns.filter(({ beside }) => inFile.has(beside.toUpperCase()));
    const foreignKeys = new Set(foreign.flatMap((each) => each.names.map(columnKey)));
    const meanings = new Map<string, NameMeaning>();
    for (const name of new Set(names)) {
      meanings.set(name, foreignKeys.has(columnKey(name)) ? {} : this.meaningOf(name));
    }
    const isPerson = ({ field }: NameMeaning): boolean => attendeeFields.test(field?.name ?? '');
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
    const { attendeePrefixes, buyerPrefixes, personFields } = this.words;
    const known = this.fieldsByKey.get(columnKey(name));
    const own = known?.isExactName && known.name !== name.trim() ? undefined : known;
    // `Lead #` is a number, not a lead.
    const words = wordsOf(name.replace(/#\s*$/, ' number'));
    const [prefix = '', ...rest] = words;
    const isOfBuyer = buyerPrefixes.includes(prefix);
    if (own && !isOfBuyer) return { field: own };
    if (this.isOtherNumber(words)) return { skipReason: 'A number of a fax or pager is not a phone number.' };
    const isState = this.isState(name);
    if (rest.length === 0) return { field: own, isState };
    if ((isOfBuyer || attendeePrefixes.includes(prefix)) && !this.itemKeys.has(columnKey(name))) {
      const field = this.fieldOfWords(rest);
      if (field && personFields.test(field.name))
        return { field, own, prefix, person: isOfBuyer ? 'buyer' : 'attendee' };
    }
    return { field: own ?? this.fieldOfWords(words), isState };
  }

  /** The field of a name such as `Private Phone 2`: that of `Phone`, or the one for numbers of that kind. */
  private fieldOfWords(words: string[]): CsvField | undefined {
    const known = this.fieldsByKey.get(words.join(''));
    if (known) return known;
    const kind = this.kindOf(words);
    const kindWords = kind === undefined ? [] : (this.words.kinds[kind] ?? []);
    const base = this.fieldsByKey.get(words.filter((word) => !isNumeral(word) && !kindWords.includes(word)).join(''));
    if (kind !== undefined) return base && this.fieldOfKind(base, kind);
    return base?.isList && words.some(isNumeral) ? base : undefined;
  }

  /** The kind of number or address that words name, such as `home`. */
  private kindOf = (words: string[]): string | undefined =>
    Object.entries(this.words.kinds).find(([, known]) => words.some((word) => known.includes(word)))?.[0];

  private isOtherNumber = (words: string[]): boolean => words.some((word) => this.words.otherNumbers.includes(word));

  private fieldOfKind = ({ name }: CsvField, kind: string): CsvField | undefined =>
    this.fieldsByKey.get(columnKey(this.words.kindFields[name]?.[kind] ?? ''));

  /**
   * The field that a number or an address fills, by what another column says of its kind: null for a number at which
   * nobody answers, undefined if the text names no kind.
   */
  fieldOfType(field: CsvField, type: string): CsvField | null | undefined {
    const words = wordsOf(type);
    const kind = this.kindOf(words);
    if (this.isOtherNumber(words)) return null;
    return kind === undefined ? undefined : this.fieldOfKind(field, kind);
  }

  /** Whether a text names a kind of number or address. */
  isKind = (text: string): boolean => this.isOtherNumber(wordsOf(text)) || this.kindOf(wordsOf(text)) !== undefined;

  /** The start of a name such as `Phone 1 - Type`, if it is that of a column of kinds. */
  typedPrefix(name: string): string | undefined {
    const words = wordsOf(name);
    const isType = words.length > 1 && this.words.typeNames.includes(words.pop() ?? '');
    return isType ? words.join('') : undefined;
  }
}
