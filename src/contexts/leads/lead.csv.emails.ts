import { MAX_LENGTH } from '../../fields/fields';
import { isVisibleEmail, isWithinLength } from '../../fields/text';
import { csvField, type CsvField, type RecordDraft } from '../../exchange/csv/csv-fields';
import { CsvValueError, emailValue, trimInvisible } from '../../exchange/csv/csv-values';
import { EMAIL_EXPECTED } from '../../exchange/datasets/expectation';
import { quoteShortened } from '../../exchange/datasets/quote';

/** The fields of addresses other than the one that identifies a person. */
type OtherAddresses = 'personalEmails' | 'professionalEmails';

const SEPARATORS = /\s*(?:[;,\s]|:::)\s*/;

/** Splits a cell at anything that no address contains. */
function splitAddresses(cell: string): string[] {
  const parts = cell.split(SEPARATORS).filter(Boolean);
  return parts.length > 1 && parts.every((part) => part.includes('@')) ? parts : [cell];
}

/** @throws CsvValueError */
function requireAddress(address: string): void {
  emailValue.parse(address, {});
  if (isVisibleEmail(address) && isWithinLength(address, MAX_LENGTH.name)) return;
  const message = `${quoteShortened(address)} is not a valid e-mail address. Use ${EMAIL_EXPECTED}.`;
  throw new CsvValueError(message, EMAIL_EXPECTED, undefined, 'address');
}

function addAddress(draft: RecordDraft, others: OtherAddresses, address: string): void {
  const known = typeof draft[others] === 'string' ? splitAddresses(draft[others]) : [];
  const isKnown = [draft.email, ...known].some((each) => String(each).toLowerCase() === address.toLowerCase());
  if (!isKnown) draft[others] = [...known, address].join('; ');
}

/**
 * A column of addresses. The first address of a row, in the order of the fields, is the lead's address; the others are
 * stored as further addresses.
 */
const addressField = (name: string, others: OtherAddresses): CsvField => ({
  name,
  paths: ['email', 'personalEmails', 'professionalEmails'],
  isList: true,
  mergeSql: (stored, imported, path) => (path === 'email' ? imported : `coalesce(${imported}, ${stored})`),
  parseInto(draft, cell) {
    const text = trimInvisible(cell);
    draft.email ??= null;
    if (text === '') return;
    const addresses = splitAddresses(text);
    addresses.forEach(requireAddress);
    for (const address of addresses) {
      if (draft.email === null) draft.email = address;
      else addAddress(draft, others, address);
    }
  },
});

/** Ordered from an attendee's most personal address to those that several people may share. */
export const EMAIL_FIELDS: CsvField[] = [
  { ...addressField('email.attendee', 'professionalEmails'), isReadFirst: true },
  { ...csvField('email', emailValue, null), ...addressField('email', 'professionalEmails') },
  addressField('email.work', 'professionalEmails'),
  addressField('email.home', 'personalEmails'),
  addressField('email.other', 'professionalEmails'),
];
