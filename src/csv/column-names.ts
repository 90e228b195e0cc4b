import { columnKey, mappingsOf } from './column-mappings';
import type { CsvField } from './csv-fields';
import type { ColumnMapping } from './csv-format';
import type { ColumnWords } from './csv-section';
import type { CsvService } from './csv.service';

/** What the name of a column says about its values. */
export interface NameMeaning {
  field?: CsvField;
  /** Whether they are about the person who comes, or about somebody else who has paid. */
  person?: 'attendee' | 'buyer';
  /** The first word, if it says so, and the field that is known by the whole name nevertheless. */
  prefix?: string;
  own?: CsvField;
  /** Whether they say what has become of each row. */
  isState?: boolean;
  /** Whether they are numbers at which nobody answers. */
  isOtherNumber?: boolean;
}

/** The words of a text in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

const isNumeral = (word: string): boolean => /^\d+$/.test(word);

/** What names of columns mean in the files of a section. */
export class ColumnNames {
  private readonly fieldsByKey: Map<string, CsvField>;
  private readonly words?: ColumnWords;
  private readonly lastWords: Set<string>;
  private readonly stateKeys: Set<string>;
  private readonly itemKeys: Set<string>;

  constructor(
    private readonly csv: CsvService,
    private readonly section: string,
    private readonly mappings: ColumnMapping[],
  ) {
    this.fieldsByKey = csv.fieldsByName(section);
    this.lastWords = csv.lastWords(section);
    this.words = csv.definition(section).words;
    this.stateKeys = new Set(this.words?.stateColumns.map(columnKey));
    this.itemKeys = new Set(this.words?.itemNames.map(columnKey));
  }

  /** Whether a text is the name of a column that is known as it stands. */
  isKnown = (name: string): boolean => {
    const key = columnKey(name);
    return this.fieldsByKey.has(key) || this.stateKeys.has(key) || mappingsOf(this.mappings, name, 1).length > 0;
  };

  /** Whether a text ends with a word with which names of columns end, and has neither digits nor an address. */
  isLikeName = (text: string): boolean => !/[\d@]/.test(text) && this.lastWords.has(wordsOf(text).at(-1) ?? '');

  /** Whether a column of this name says what has become of each row, such as `Approved`. */
  isState = (name: string): boolean => this.stateKeys.has(columnKey(name));

  /** Whether the title of a table names others than those who come, such as `Panelist Details`. */
  isOtherTable = (title: string): boolean => wordsOf(title).some((word) => this.words?.otherTables.includes(word));

  /** The field that has exactly this name, or is known by it. */
  fieldNamed(name: string): CsvField | undefined {
    const field = this.fieldsByKey.get(columnKey(name));
    return field?.isExactName && field.name !== name.trim() ? undefined : field;
  }

  meaningOf(name: string): NameMeaning {
    const own = this.fieldNamed(name);
    // `Lead #` is a number, not a lead.
    const words = wordsOf(name.replace(/#\s*$/, ' number'));
    if (!this.words) return { field: own };
    const { attendeePrefixes, buyerPrefixes, otherNumbers, personFields } = this.words;
    const [prefix = '', ...rest] = words;
    const isOfBuyer = buyerPrefixes.includes(prefix);
    if (own && !isOfBuyer) return { field: own };
    if (words.some((word) => otherNumbers.includes(word))) return { isOtherNumber: true };
    if (rest.length === 0) return { field: own, isState: this.isState(name) };
    if (isOfBuyer || attendeePrefixes.includes(prefix)) {
      const field = this.itemKeys.has(columnKey(name)) ? undefined : this.fieldOfWords(rest);
      if (field && personFields.test(field.name))
        return { field, own, prefix, person: isOfBuyer ? 'buyer' : 'attendee' };
    }
    return { field: own ?? this.fieldOfWords(words), isState: this.isState(name) };
  }

  /** The field of a name such as `Private Phone 2`: that of `Phone`, or the one for numbers of that kind. */
  private fieldOfWords(words: string[]): CsvField | undefined {
    const known = this.fieldsByKey.get(words.join(''));
    if (known) return known;
    const kind = this.kindOf(words);
    const kindWords = kind === undefined ? [] : (this.words?.kinds[kind] ?? []);
    const base = this.fieldsByKey.get(words.filter((word) => !isNumeral(word) && !kindWords.includes(word)).join(''));
    if (!base) return undefined;
    if (kind !== undefined) return this.fieldOfKind(base, kind);
    return base.isList && words.some(isNumeral) ? base : undefined;
  }

  /** The kind of number or address that words name, such as `home`. */
  private kindOf = (words: string[]): string | undefined =>
    Object.entries(this.words?.kinds ?? {}).find(([, known]) => words.some((word) => known.includes(word)))?.[0];

  private fieldOfKind = (field: CsvField, kind: string): CsvField | undefined => {
    const name = this.words?.kindFields[field.name]?.[kind];
    return name === undefined ? undefined : this.csv.fieldNamed(this.section, name);
  };

  /**
   * The field that a number or an address fills, by what another column says of its kind: null for a number at which
   * nobody answers, undefined if the text names no kind.
   */
  fieldOfType(field: CsvField, type: string): CsvField | null | undefined {
    const words = wordsOf(type);
    if (words.some((word) => this.words?.otherNumbers.includes(word))) return null;
    const kind = this.kindOf(words);
    return kind === undefined ? undefined : this.fieldOfKind(field, kind);
  }

  /** Whether a text names a kind of number or address. */
  isKind(text: string): boolean {
    const words = wordsOf(text);
    return this.kindOf(words) !== undefined || words.some((word) => this.words?.otherNumbers.includes(word));
  }

  /** The start of a name such as `Phone 1 - Type`, if it is that of a column of kinds. */
  typedPrefix(name: string): string | undefined {
    const words = wordsOf(name);
    const isType = words.length > 1 && this.words?.typeNames.includes(words.pop() ?? '');
    return isType ? words.join('') : undefined;
  }
}
