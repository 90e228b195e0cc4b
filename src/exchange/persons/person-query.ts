/** What identifies a person, as an operator spells it. Several values are alternatives. PostgreSQL decides what is alike. */
export interface PersonQuery {
  /** E-mail addresses. */
  emails: string[];
  /** Phone numbers. */
  phones: string[];
  /** IDs of leads. */
  leads: string[];
  /** IDs of leads that are other persons, so what these have identifies nobody. */
  others?: string[];
}

/** A person in an organization. */
export interface Person extends PersonQuery {
  organizationId: number;
}

/** Numbers with fewer digits would be found in every second text. */
export const MIN_PHONE_DIGITS = 5;

/** An address or a number that is looked for, as `FIND_NEEDLES` prepares it. */
export interface Needle {
  kind: 'address' | 'number';
  /** The address in lower case, or the digits of the number. */
  value: string;
  /** How a number may end; of an address null. */
  ending: string | null;
  /** Whether an option names it, and not a lead that an option names. */
  isNamed: boolean;
  /** Of an address two `like` patterns, for texts and for JSON. Of a number two regular expressions, for any text and for words. */
  patterns: [string, string];
}

/** The needles as parameters of statements. */
export interface Needles {
  emails: string[];
  emailPatterns: string[];
  phones: string[];
  phonePatterns: string[];
  phoneWords: string[];
  phoneEndings: string[];
  namedEmails: string[];
  namedPhones: string[];
}

export function groupNeedles(needles: Needle[]): Needles {
  const addresses = needles.filter(({ kind }) => kind === 'address');
  const numbers = needles.filter(({ kind }) => kind === 'number');
  const named = (group: Needle[]): string[] => group.filter(({ isNamed }) => isNamed).map(({ value }) => value);
  return {
    emails: addresses.map(({ value }) => value),
    emailPatterns: addresses.flatMap(({ patterns }) => patterns),
    phones: numbers.map(({ value }) => value),
    phonePatterns: numbers.map(({ patterns }) => patterns[0]),
    phoneWords: numbers.map(({ patterns }) => patterns[1]),
    phoneEndings: numbers.flatMap(({ ending }) => ending ?? []),
    namedEmails: named(addresses),
    namedPhones: named(numbers),
  };
}

/**
 * SQL of whether a text contains an address or a number.
 * @param emailPatterns SQL of `Needles.emailPatterns`
 * @param phonePatterns SQL of `Needles.phonePatterns`
 */
export const containsNeedle = (text: string, emailPatterns: string, phonePatterns: string): string =>
  `(lower(${text}) like any(${emailPatterns})
    or ${text} ~ any(${phonePatterns}))`;
