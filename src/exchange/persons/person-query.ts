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

/** The addresses and numbers that are looked for, as `FIND_NEEDLES` prepares them, which are parameters of statements. */
export interface Needles {
  /** Addresses in lower case, and the digits of numbers. */
  emails: string[];
  phones: string[];
  /** `like` patterns of texts, and of JSON, that contain an address. */
  emailPatterns: string[];
  /** Regular expressions of texts that contain a number, and of those in which it is a word. */
  phonePatterns: string[];
  phoneWords: string[];
  /** How numbers may end. */
  phoneEndings: string[];
  /** Those that an option names, and not a lead that an option names. */
  namedEmails: string[];
  namedPhones: string[];
}

/**
 * SQL of whether a text contains an address or a number.
 * @param emailPatterns SQL of `Needles.emailPatterns`
 * @param phonePatterns SQL of `Needles.phonePatterns`
 */
export const containsNeedle = (text: string, emailPatterns: string, phonePatterns: string): string =>
  `(lower(${text}) like any(${emailPatterns})
    or ${text} ~ any(${phonePatterns}))`;
