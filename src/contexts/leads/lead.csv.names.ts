import { placeholders } from '../../exchange/csv/words.json';
import { csvField, type CsvField, type RecordDraft } from '../../exchange/csv/csv-fields';
import { CsvValueError, textValue } from '../../exchange/csv/csv-values';
import { quoteShortened } from '../../exchange/datasets/quote';

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Rejects what programs write until somebody enters a text, such as `Info Requested`. @throws CsvValueError */
function requireGiven(cell: string): string {
  if (!placeholders.includes(cell.trim().toLowerCase())) return cell;
  const message = `${quoteShortened(cell)} stands for a text that is missing. Enter it, or leave the cell empty.`;
  throw new CsvValueError(message, 'the text, or nothing');
}

const GIVEN_FIELDS = ['firstName', 'lastName', 'jobTitle', 'company.name'].map((path) =>
  csvField(path, { ...textValue, parse: requireGiven }, null),
);

/** Splits a full name, whose last word is the last name. */
function splitName(name: string): RecordDraft {
  const words = name.split(/\s+/u);
  const lastName = words.pop() || null;
  return { firstName: words.join(' ') || null, lastName };
}

/**
 * A name. Beside columns for both first and last name, it counts only if both are empty. Beside a column for one of them, it
 * provides the other: `Vorname` and `Name` are Ada and Rowe, and so are `Vorname` and `Ada Rowe`.
 */
const name: CsvField = {
  name: 'name',
  paths: ['firstName', 'lastName'],
  parseInto(draft, cell, { hasField }) {
    const whole = requireGiven(cell.trim());
    const [firstName, lastName] = [text(draft.firstName), text(draft.lastName)];
    const [hasFirst, hasLast] = [hasField('firstName'), hasField('lastName')];
    if (firstName === '' && lastName === '') {
      Object.assign(draft, splitName(whole));
    } else if (whole === '' || (hasFirst && hasLast)) {
      return;
    } else if (hasFirst) {
      draft.lastName = whole.startsWith(`${firstName} `) ? whole.slice(firstName.length).trim() : whole;
    } else if (whole !== lastName) {
      draft.firstName = whole.endsWith(` ${lastName}`) ? whole.slice(0, -lastName.length).trim() : whole;
    }
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
    const [before, added] = [text(target[property]), cell.trim()];
    if (added !== '') target[property] = before === '' ? added : join(before, added);
  },
});

const note = joinedField('description', 'description', appended('\n'));

/** Several columns may hold notes. */
const description: CsvField = {
  ...csvField('description', textValue, null),
  isList: true,
  parseInto(draft, cell, context) {
    if (text(draft.description) === '') draft.description = cell || null;
    else note.parseInto(draft, cell, context);
  },
};

/** The parts of an address, which may be that of a person's home or of the company. */
export const HOME_PARTS = ['streetAddress', 'zip', 'city', 'state', 'country'];

/** The fields of names and addresses whose cells are parsed differently from the record's field of the same name. */
export const NAME_FIELDS: CsvField[] = [
  ...GIVEN_FIELDS,
  description,
  name,
  { ...joinedField('middleName', 'firstName', appended(' ')), isList: false },
  // A prefix such as `van der`.
  { ...joinedField('lastNamePrefix', 'lastName', (before, added) => `${added} ${before}`), isList: false },
  joinedField('houseNumber', 'company.streetAddress', appended(' ')),
  joinedField('streetAddress2', 'company.streetAddress', appended(', ')),
  // Only the address of a lead's company has separate parts.
  ...HOME_PARTS.map((part) => joinedField(`home.${part}`, 'address', appended(', '))),
];
