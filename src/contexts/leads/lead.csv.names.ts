import { csvField, type CsvField, type RecordDraft } from '../../exchange/csv/csv-fields';
import { CsvValueError, textValue, trimInvisible } from '../../exchange/csv/csv-values';
import { quoteShortened } from '../../exchange/datasets/quote';

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

type NameFormat = 'first last' | 'last first' | 'last, first';

/** A word of a name that is no last name of its own, such as `Jr.`. */
const isSuffix = (word: string): boolean => /^(?:Jr|Sr|II|III|PhD|MD)\.?$/i.test(word) || !/\p{L}/u.test(word);

/** The words of a name, with suffixes at the word before them. */
function nameParts(name: string): string[] {
  const parts: string[] = [];
  for (const word of name.split(/\s+/u)) {
    if (isSuffix(word) && parts.length > 0) parts.push(`${parts.pop()} ${word}`);
    else parts.push(word);
  }
  return parts;
}

/** @throws CsvValueError if the name is not written as the format says */
function splitName(name: string, format: NameFormat): [firstName: string, lastName: string] {
  const comma = name.indexOf(',');
  const parts = nameParts(name);
  if (format === 'last, first' && comma >= 0) return [name.slice(comma + 1).trim(), name.slice(0, comma).trim()];
  if (parts.length === 1 && comma < 0) return ['', name];
  if (comma >= 0 || format === 'last, first') {
    const expected = comma >= 0 ? 'a name without a comma, or the format "last, first"' : 'a name with a comma';
    throw new CsvValueError(`${quoteShortened(name)} is not a name as ${format}. Use ${expected}.`, expected, 'name');
  }
  if (format === 'last first') return [parts.slice(1).join(' '), parts[0] ?? ''];
  return [parts.slice(0, -1).join(' '), parts.at(-1) ?? ''];
}

/** A full name. */
const name: CsvField = {
  name: 'name',
  paths: ['firstName', 'lastName'],
  formats: ['first last', 'last first', 'last, first'] satisfies NameFormat[],
  parseInto(draft, cell, { format = 'first last' }) {
    const whole = trimInvisible(cell);
    if (whole === '') {
      draft.firstName ??= null;
      draft.lastName ??= null;
      return;
    }
    const [firstName, lastName] = splitName(whole, format as NameFormat);
    const isOther = (before: unknown, part: string): boolean => text(before) !== '' && text(before) !== part;
    if (isOther(draft.firstName, firstName) || isOther(draft.lastName, lastName)) {
      const message = `${quoteShortened(whole)} is another name than that of the other columns.`;
      throw new CsvValueError(message, 'the same name', 'other name');
    }
    draft.firstName = firstName || null;
    draft.lastName = lastName || null;
  },
};

type Join = (before: string, added: string) => string;

/** Appends a text, unless it is already there. */
const appended =
  (separator: string): Join =>
  (before, added) => {
    const isThere = [separator, before, separator].join('').includes([separator, added, separator].join(''));
    return isThere ? before : before + separator + added;
  };

/** A column that is joined to the text of another field. */
const joinedField = (name: string, path: string, join: Join): CsvField => ({
  name,
  paths: [path],
  isList: true,
  parseInto(draft, cell) {
    const [property = '', parent] = path.split('.').reverse();
    const target = parent === undefined ? draft : ((draft[parent] ??= {}) as RecordDraft);
    const [before, added] = [text(target[property]), trimInvisible(cell)];
    if (added !== '') target[property] = before === '' ? cell : join(before, added);
  },
});

/** A text of its own, to which several columns may add. */
const addedField = (path: string, separator: string): CsvField => ({
  ...csvField(path, textValue, null),
  ...joinedField(path, path, appended(separator)),
});

/** The parts of an address, which may be that of a person's home or of the company. */
const HOME_PARTS = ['streetAddress', 'zip', 'city', 'state', 'country'];

/** The fields of names and addresses whose cells are parsed differently from the record's field of the same name. */
export const NAME_FIELDS: CsvField[] = [
  csvField('firstName', textValue, null),
  csvField('lastName', textValue, null),
  addedField('description', '\n'),
  addedField('personalEmails', '; '),
  addedField('professionalEmails', '; '),
  name,
  { ...joinedField('middleName', 'firstName', appended(' ')), isList: false },
  // A prefix such as `van der`.
  { ...joinedField('lastNamePrefix', 'lastName', (before, added) => `${added} ${before}`), isList: false },
  joinedField('houseNumber', 'company.streetAddress', appended(' ')),
  joinedField('streetAddress2', 'company.streetAddress', appended(', ')),
  // Only the address of a lead's company has separate parts.
  ...HOME_PARTS.map((part) => joinedField(`home.${part}`, 'address', appended(', '))),
];
