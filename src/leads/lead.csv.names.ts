import type { CsvField, RecordDraft } from '../csv/csv-fields';

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

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
    const whole = cell.trim();
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

/** Further given names. */
const middleName: CsvField = {
  name: 'middleName',
  paths: ['firstName'],
  parseInto(draft, cell) {
    draft.firstName = [text(draft.firstName), cell.trim()].filter(Boolean).join(' ') || null;
  },
};

/** The prefix of a last name, such as `van der`. */
const lastNamePrefix: CsvField = {
  name: 'lastNamePrefix',
  paths: ['lastName'],
  parseInto(draft, cell) {
    draft.lastName = [cell.trim(), text(draft.lastName)].filter(Boolean).join(' ') || null;
  },
};

/** Appends the text of a column to a text of the record, unless it is already there. */
function appendText(record: RecordDraft, property: string, added: string, separator: string): void {
  const before = text(record[property]);
  if (added === '' || before.split(separator).includes(added)) return;
  record[property] = before === '' ? added : `${before}${separator}${added}`;
}

/** Several columns may hold notes. */
const description: CsvField = {
  name: 'description',
  isList: true,
  parseInto(draft, cell) {
    if (draft.description === undefined || text(draft.description) === '')
      draft.description = cell === '' ? null : cell;
    else appendText(draft, 'description', cell.trim(), '\n');
  },
  format: (record) => (typeof record.description === 'string' ? record.description : ''),
};

/** The second line of a street address. */
const streetAddress2: CsvField = {
  name: 'streetAddress2',
  paths: ['company.streetAddress'],
  isList: true,
  parseInto(draft, cell) {
    if (cell.trim() === '') return;
    draft.company ??= {};
    appendText(draft.company as RecordDraft, 'streetAddress', cell.trim(), ', ');
  },
};

/** A part of a person's home address. Only the address of a lead's company has separate parts. */
const homeField = (part: string): CsvField => ({
  name: `home.${part}`,
  paths: ['address'],
  isList: true,
  parseInto: (draft, cell) => appendText(draft, 'address', cell.trim(), ', '),
});

/** The parts of an address, which may be that of a person's home or of the company. */
export const HOME_PARTS = ['streetAddress', 'zip', 'city', 'state', 'country'];

/** The fields of names and addresses whose cells are parsed differently from the record's field of the same name. */
export const NAME_FIELDS: CsvField[] = [
  description,
  name,
  middleName,
  lastNamePrefix,
  streetAddress2,
  ...HOME_PARTS.map(homeField),
];
