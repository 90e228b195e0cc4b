import { MAX_LENGTH } from '../../fields/fields';
import { isObject } from '../../fields/field-rules';
import { isWithinLength } from '../../fields/text';
import { addEntries, csvField, type CsvField, type RecordDraft } from '../../exchange/csv/csv-fields';
import { CsvValueError, listValue } from '../../exchange/csv/csv-values';
import { isPlainEntry, joinEntries, LIST_SEPARATOR, splitEntries } from '../../exchange/csv/list-cells';
import { quoteShortened } from '../../exchange/datasets/quote';
import { type LeadPhoneNumbers, type PhoneNumber, PhoneNumberTypeEnum } from './lead.response';

const LEAD_PROVIDED_PATH = 'phoneNumbers.leadProvided';

/** Separators of numbers, in addition to those of every list. */
const NUMBER_SEPARATOR = /;|:::|,|\r\n|\n|\r/y;

/** A part with fewer digits, such as `ext. 7`, is not a number of its own. */
const MIN_DIGITS = 5;

const digitCount = (text: string): number => text.replace(/\D/g, '').length;

/**
 * Parses the number in a cell, which a spreadsheet may have kept as text with an apostrophe.
 * @throws CsvValueError if it has no digits, as `n/a` has none, or a spreadsheet has turned it into a number such as 4.41E+11
 */
function parsePhoneNumber(cell: string): string {
  const text = cell.replace(/^\s*'/, '');
  // Earlier exports had JSON lists in their cells.
  if (!/\p{Nd}/u.test(text) || text.trimStart().startsWith('[')) {
    const message = `${quoteShortened(text)} is not a phone number. Use one with digits, or leave the cell empty.`;
    throw new CsvValueError(message, 'a number with digits, or nothing', undefined, 'no digits');
  }
  if (!/^\s*[+-]?\d+([.,]\d+)?E[+-]?\d+\s*$/i.test(text)) return text.trim();
  throw new CsvValueError(
    `${quoteShortened(text)} has lost its digits in a spreadsheet. Format the column as text and enter the whole number.`,
    'the whole number, in a column that is formatted as text',
    undefined,
    'lost digits',
  );
}

/** The texts of a cell that holds phone numbers. */
function phoneTexts(cell: string): string[] {
  // A comma in a number that a spreadsheet has garbled separates nothing.
  if (/^\s*[+-]?\d+,\d+E[+-]?\d+\s*$/i.test(cell)) return [parsePhoneNumber(cell)];
  return splitEntries(cell, LIST_SEPARATOR).flatMap(({ text, isQuoted }) => {
    if (isQuoted) return [text];
    const parts = splitEntries(text, NUMBER_SEPARATOR).map((part) => part.text);
    const areNumbers = parts.every((part) => digitCount(part) >= MIN_DIGITS);
    return (areNumbers ? parts : [text]).map(parsePhoneNumber);
  });
}

const NEEDS_NO_QUOTES = /^(?!['=\s[])(?=.*\p{Nd})(?!.*E[+-]?\d+$).*\S$/isu;

/** Whether a number in a list is read back as it is written, without quotes. */
function isReadBack(number: string): boolean {
  if (!NEEDS_NO_QUOTES.test(number) || !isPlainEntry(number)) return false;
  const [first, ...others] = phoneTexts(number);
  return first === number && others.length === 0;
}

/**
 * Keeps the stored numbers that the file also has, with everything stored about them and in their order, and appends the
 * file's other numbers. A new number is preferred only if none of the kept ones is.
 */
const mergePhoneNumbers: CsvField['mergeSql'] = (stored, imported) => {
  const isIn = (list: string, phone: string) => `exists (select from jsonb_array_elements(${list}) other
        where (other ->> 'number', other ->> 'type') = (${phone} ->> 'number', ${phone} ->> 'type'))`;
  return `(select coalesce(jsonb_agg(phone order by part, nth), '[]') from (
      select 0 as part, nth, phone from jsonb_array_elements(${stored}) with ordinality old (phone, nth)
      where ${isIn(imported, 'phone')}
      union all
      select 1, nth, case when exists (select from jsonb_array_elements(${stored}) old
          where (old ->> 'preferred')::boolean and ${isIn(imported, 'old')}) then phone || '{"preferred":false}' else phone end
      from jsonb_array_elements(${imported}) with ordinality fresh (phone, nth) where not ${isIn(stored, 'phone')}) merged)`;
};

/** @throws CsvValueError */
function parseNumbers(cell: string): string[] {
  const numbers = cell.trim() === '' ? [] : phoneTexts(cell);
  const invalid = numbers.find((number) => !isWithinLength(number, MAX_LENGTH.name));
  if (invalid === undefined) return numbers;
  const expected = `numbers of at most ${MAX_LENGTH.name} characters`;
  throw new CsvValueError(`${quoteShortened(invalid)} is too long. Use ${expected}.`, expected);
}

/** Changes the numbers of a lead. A value that is not a list of objects is kept, so that the check of the record rejects it. */
function changeNumbers(draft: RecordDraft, change: (numbers: PhoneNumber[]) => PhoneNumber[]): void {
  const { leadProvided = [], ...others } = (draft.phoneNumbers ?? {}) as RecordDraft;
  if (!Array.isArray(leadProvided) || !leadProvided.every(isObject)) return;
  draft.phoneNumbers = { ...others, leadProvided: change(leadProvided as PhoneNumber[]) };
}

/** The phone numbers of one type. The first number of a row is the preferred one. */
const phoneField = (name: string, type: PhoneNumberTypeEnum): CsvField => ({
  name,
  paths: [LEAD_PROVIDED_PATH],
  isList: true,
  mergeSql: mergePhoneNumbers,
  parseInto(draft, cell) {
    const numbers = parseNumbers(cell);
    if (numbers.length === 0) return;
    changeNumbers(draft, (before) => {
      const entries = numbers.map((number, index) => ({ number, type, preferred: before.length + index === 0 }));
      return addEntries(before, entries, (entry) => `${entry.type} ${entry.number}`);
    });
  },
  format(record) {
    const { leadProvided = [] } = (record.phoneNumbers ?? {}) as Partial<LeadPhoneNumbers>;
    const numbers = leadProvided.filter((phone) => phone.type === type).map(({ number }) => number);
    return joinEntries(numbers, isReadBack);
  },
});

/** Everything that is stored about phone numbers, as JSON. */
const phoneNumbersField = (path: string): CsvField => ({
  ...csvField(
    path,
    listValue(
      (number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }),
      () => undefined,
    ),
    undefined,
  ),
  isOptional: true,
});

const phone = phoneField('phone', 'UNKNOWN');

const digitsOf = ({ number }: PhoneNumber): string => String(number).replace(/\D/g, '');

/** The preferred number. Address books have it among the others, too. */
const primaryPhone: CsvField = {
  ...phone,
  name: 'phone.primary',
  format: undefined,
  parseInto(draft, cell) {
    const primary = [...new Set(parseNumbers(cell))].map((number): PhoneNumber => ({
      number,
      type: 'UNKNOWN',
      preferred: false,
    }));
    const [first] = primary;
    if (!first) return;
    changeNumbers(draft, (others) => {
      const known = others.map(digitsOf);
      const all = [...others, ...primary.filter((each) => !known.includes(digitsOf(each)))];
      const preferred = all.find((each) => digitsOf(each) === digitsOf(first));
      return all.map((each) => ({ ...each, preferred: each === preferred }));
    });
  },
};

const typedPhoneFields = PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) =>
  phoneField(`phone.${type.toLowerCase()}`, type),
);

export const PHONE_FIELDS: CsvField[] = [
  phoneNumbersField(LEAD_PROVIDED_PATH),
  phoneNumbersField('phoneNumbers.serviceProvided'),
  phone,
  ...typedPhoneFields,
  primaryPhone,
];
