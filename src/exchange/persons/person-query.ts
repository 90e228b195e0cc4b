/** What identifies a person. Several values are alternatives. */
export interface PersonQuery {
  /** E-mail addresses, trimmed and in lower case. */
  emails: string[];
  /** Phone numbers, digits only. */
  phones: string[];
  /** IDs of leads. */
  leads: string[];
}

export const normalizeEmail = (address: string): string => address.trim().toLowerCase();

export const digitsOf = (number: string): string => number.replace(/\D/g, '');

/** What separates addresses in a text that holds several. SQL and JavaScript read the pattern alike. */
export const ADDRESS_SEPARATORS = '[\\s,;|<>]+';

/** The addresses in a text that holds one or several. */
export const addressesIn = (text: string | null | undefined): string[] =>
  normalizeEmail(text ?? '')
    .split(new RegExp(ADDRESS_SEPARATORS))
    .filter((token) => token.includes('@'));

const escapeForRegex = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '\\$&');
const escapeForLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Looked for as they stand: texts without these signs would run two numbers into one, and take five times as long. */
const PHONE_SIGNS = '[\\s().+/-]*';

/** What PostgreSQL looks for in texts. Each property is one parameter. */
export interface Needles {
  emails: string[];
  /** `like` patterns of texts in lower case that contain an address. */
  emailPatterns: string[];
  /** Regular expressions of texts that contain a number, with any of the signs that people write between digits. */
  phonePatterns: string[];
  /** Regular expressions of an address that is not the end of a longer one. */
  wholeEmailPatterns: string[];
}

export const needlesOf = ({ emails, phones }: Omit<PersonQuery, 'leads'>): Needles => ({
  emails,
  emailPatterns: emails.map((address) => `%${escapeForLike(address)}%`),
  phonePatterns: phones.map((digits) => `(^|[^0-9])${[...digits].join(PHONE_SIGNS)}([^0-9]|$)`),
  wholeEmailPatterns: emails.map((address) => `(?<![a-z0-9.+-])${escapeForRegex(address)}(?![a-z0-9-]|\\.[a-z0-9])`),
});

/**
 * SQL of whether a text contains an address or a number.
 * @param emailPatterns SQL of `Needles.emailPatterns`
 * @param phonePatterns SQL of `Needles.phonePatterns`
 */
export const containsNeedle = (text: string, emailPatterns: string, phonePatterns: string): string =>
  `(lower(${text}) like any(${emailPatterns})
    or ${text} ~ any(${phonePatterns}))`;
