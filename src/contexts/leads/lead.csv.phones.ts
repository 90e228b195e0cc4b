import { MAX_LENGTH } from '../../fields/fields';
import { isObject } from '../../fields/field-rules';
import { isWithinLength } from '../../fields/text';
import { addEntries, type CsvField, type RecordDraft, requireDigits } from '../../exchange/csv/csv-fields';
import { CsvValueError, trimInvisible } from '../../exchange/csv/csv-values';
import { isPlainEntry, joinEntries, splitEntries } from '../../exchange/csv/list-cells';
import { quoteShortened } from '../../exchange/datasets/quote';
import { type LeadPhoneNumbers, type PhoneNumber, PhoneNumberTypeEnum } from './lead.response';

const LEAD_PROVIDED_PATH = 'phoneNumbers.leadProvided';

/** Separators of numbers. */
const NUMBER_SEPARATOR = /;|:::|,|\r\n|\n|\r/y;

/** A part with fewer digits, such as `ext. 7`, is not a number of its own. */
const MIN_DIGITS = 5;

const digitCount = (text: string): number => text.replace(/\D/g, '').length;

/** @throws CsvValueError if it has no digits, as `n/a` has none, or a spreadsheet has turned it into a number such as 4.41E+11 */
function parsePhoneNumber(cell: string): string {
  const text = cell.replace(/^\s*'/, '').trim();
  // Earlier exports had JSON lists in their cells.
  if (/\p{Nd}/u.test(text) && !text.startsWith('[')) return requireDigits(text);
  const message = `${quoteShortened(text)} is not a phone number. Use one with digits, or leave the cell empty.`;
  throw new CsvValueError(message, 'a number with digits, or nothing', 'no digits');
}

/** The texts of a cell that holds phone numbers. An entry in quotes is one number, whatever it is. */
function phoneTexts(cell: string): string[] {
  // A comma in a number that a spreadsheet has garbled separates nothing.
  requireDigits(cell);
  const parts = splitEntries(cell, NUMBER_SEPARATOR);
  const areNumbers = parts.every(({ text, isQuoted }) => isQuoted || digitCount(text) >= MIN_DIGITS);
  if (!areNumbers) return [parsePhoneNumber(cell)];
  return parts.map(({ text, isQuoted }) => (isQuoted ? text : parsePhoneNumber(text)));
}

/** Whether a number in a list is read back as it is written, without quotes. */
function isReadBack(number: string): boolean {
  const isPlain = isPlainEntry(number) && number.trim() === number && !/^['=[]/.test(number);
  if (!isPlain || digitCount(number) < MIN_DIGITS || /\dE[+-]?\d+$/i.test(number)) return false;
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
  const text = trimInvisible(cell);
  const numbers = text === '' ? [] : phoneTexts(text);
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
  kind: 'number to call',
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

export const PHONE_FIELDS: CsvField[] = [
  phoneField('phone', 'UNKNOWN'),
  ...PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) =>
    phoneField(`phone.${type.toLowerCase()}`, type),
  ),
];
