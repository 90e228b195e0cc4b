import { v5 as uuidOf } from 'uuid';
import { readRecord, type RecordClass } from '../import/read-record';
import { IntegrationType, PhoneNumber, PhoneNumberTypeEnum, RemoteId } from '../../leads/lead.response';

/** A record of a dataset while it is put together. */
export type Draft = Record<string, unknown>;

/** What a cell of a table means in a record. */
export interface Field {
  name: string;
  /** Takes away what the cells of a row replace together. */
  reset?(draft: Draft): void;
  /**
   * Puts what a cell says into a record.
   * @throws CellFault when it says nothing that the field can hold
   */
  put(draft: Draft, cell: string, organizationId: number): void;
  /** The cell of a record. Fields without it can be read only: what they say, another field says too. */
  take?(record: Draft): string;
}

/** Why a cell cannot be read; completes `column "X": `. */
export class CellFault extends Error {}

/** How a value stands in a cell that is not empty. */
interface Kind {
  read(cell: string): unknown;
  write(value: unknown): string;
}

const text: Kind = { read: (cell) => cell, write: String };

const whole: Kind = {
  read: (cell) => {
    if (!/^\s*\d+\s*$/.test(cell)) throw new CellFault('not a whole number');
    return Number(cell);
  },
  write: String,
};

const YES = /^\s*(true|yes|1)\s*$/i;
const NO = /^\s*(false|no|0)\s*$/i;

const flag: Kind = {
  read: (cell) => {
    if (!YES.test(cell) && !NO.test(cell)) throw new CellFault('not true or false');
    return YES.test(cell);
  },
  write: String,
};

const array: Kind = { read: jsonArray, write: JSON.stringify };

/**
 * A list: `a; b` where that is enough, else a JSON array.
 * @param item what one of the texts says
 * @param simple the text that says an item; undefined when none says all of it
 */
function list(
  item: (text: string, index: number) => unknown,
  simple: (item: unknown) => unknown = () => undefined,
): Kind {
  return {
    read: (cell) => (cell.trimStart().startsWith('[') ? jsonArray(cell) : parts(cell).map(item)),
    write: (value) => {
      const texts = (value as unknown[]).map(simple);
      const cell = texts.join('; ');
      // Only what is read back alike is written so.
      return texts.length > 0 && sameTexts(parts(cell), texts) && !cell.startsWith('[') ? cell : JSON.stringify(value);
    },
  };
}

function jsonArray(cell: string): unknown[] {
  try {
    const value: unknown = JSON.parse(cell);
    if (Array.isArray(value)) return value;
  } catch {
    // said below
  }
  throw new CellFault('not a JSON array');
}

const parts = (cell: string): string[] =>
  cell
    .split(';')
    .map((part) => part.trim())
    .filter(Boolean);

const sameTexts = (read: string[], written: unknown[]): boolean =>
  read.length === written.length && read.every((part, index) => part === written[index]);

const texts = list(
  (part) => part,
  (item) => item,
);
const tags = list(
  (tagOptionId) => ({ tagOptionId }),
  (tag) => (tag as { tagOptionId: string }).tagOptionId,
);
const activations = list((activationId) => ({ activationId }));
const events = list((event) => ({ event }));
const phoneNumbers = list((number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }));

/** @param whenEmpty what an empty cell says: null, or nothing at all, so that the record has what a new one would have */
function field(path: string, kind: Kind, whenEmpty: null | undefined): Field {
  const steps = path.split('.');
  const last = steps[steps.length - 1] ?? '';
  return {
    name: path,
    put: (draft, cell) => {
      const holder = holderOf(draft, steps);
      if (cell !== '') holder[last] = kind.read(cell);
      else if (whenEmpty === null) holder[last] = null;
      else delete holder[last];
    },
    take: (record) => {
      const value = steps.reduce<unknown>((inner, step) => (inner as Draft | null | undefined)?.[step], record);
      const isEmpty = whenEmpty === undefined && Array.isArray(value) && value.length === 0;
      return value === null || value === undefined || isEmpty ? '' : kind.write(value);
    },
  };
}

/** The object that holds a path's last step; made where it is missing. */
function holderOf(draft: Draft, steps: string[]): Draft {
  return steps.slice(0, -1).reduce((inner, step) => (inner[step] ??= {}) as Draft, draft);
}

const nullable = (kind: Kind, ...paths: string[]): Field[] => paths.map((path) => field(path, kind, null));
const plain = (kind: Kind, ...paths: string[]): Field[] => paths.map((path) => field(path, kind, undefined));

/** Any constant: ids that are made from what another system calls a lead. */
const NAMESPACE = '0d9fd2a3-7b0a-4f4b-8f0e-6a1f1c0b5e5d';

/** Where there is no id: any text by which the file names the lead. The same text is the same lead, whenever it comes. */
const ref: Field = {
  name: 'ref',
  put: (draft, cell, organizationId) => {
    if (cell !== '') draft.id ??= uuidOf(JSON.stringify([organizationId, cell]), NAMESPACE);
  },
};

/**
 * What a cell puts into a list in which other columns have their part too: only here is it known to be the cell's.
 * @throws CellFault when it is not valid
 */
function entry(type: RecordClass, value: object): object {
  if ('fault' in readRecord(type, value)) throw new CellFault('missing or invalid');
  return value;
}

/** One number a column; the first of a row is the preferred one. */
const phone = (name: string, type: PhoneNumberTypeEnum): Field => ({
  name,
  reset: ({ phoneNumbers: numbers }) => delete (numbers as Draft | undefined)?.leadProvided,
  put: (draft, cell) => {
    if (cell === '') return;
    const { leadProvided } = (draft.phoneNumbers ??= {}) as { leadProvided?: unknown[] };
    const others = leadProvided ?? [];
    const number = entry(PhoneNumber, { number: cell, type, preferred: others.length === 0 });
    (draft.phoneNumbers as Draft).leadProvided = [...others, number];
  },
});

const phones = [
  phone('phone', 'UNKNOWN'),
  ...PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) => phone(`phone.${type.toLowerCase()}`, type)),
];

const remoteId = (integrationType: IntegrationType): Field => ({
  name: `remoteIds.${integrationType}`,
  put: (draft, cell) => {
    // What a cell of the whole list holds is checked with the record.
    const all = Array.isArray(draft.remoteIds) ? (draft.remoteIds as (Draft | null)[]) : [];
    const others = all.filter((other) => other?.integrationType !== integrationType);
    draft.remoteIds = cell === '' ? others : [...others, entry(RemoteId, { id: cell, integrationType })];
  },
});

const LEADS: Field[] = [
  ...plain(text, 'id', 'createdAt'),
  ...nullable(text, 'createdBy', 'firstName', 'lastName', 'email', 'jobTitle'),
  ...['name', 'industry', 'linkedin', 'streetAddress', 'city', 'state', 'zip', 'country'].flatMap((part) =>
    nullable(text, `company.${part}`),
  ),
  ...nullable(text, 'address', 'description', 'linkedin', 'facebook', 'twitter', 'profilePicture'),
  ...nullable(text, 'personalEmails', 'professionalEmails'),
  ...plain(phoneNumbers, 'phoneNumbers.leadProvided', 'phoneNumbers.serviceProvided'),
  ...plain(flag, 'isEnriched'),
  ...plain(whole, 'numberOfScans'),
  ...nullable(text, 'lastScannedBy'),
  ...plain(tags, 'tags'),
  ...plain(activations, 'activations'),
  ...plain(events, 'events'),
  ...plain(array, 'remoteIds'),
  ref,
  ...phones,
  ...IntegrationType.map(remoteId),
];

const INDUSTRY_EVENTS: Field[] = [
  ...plain(text, 'id', 'createdAt', 'updatedAt'),
  ...nullable(text, 'name', 'startDate', 'endDate', 'sourceType', 'sourceId', 'eventType'),
  ...nullable(text, 'venueName', 'venueCity', 'venueState', 'venueCountry', 'venueFullAddress', 'venueCoordinates'),
  ...nullable(whole, 'numberOfAttendees', 'numberOfExhibitors'),
  ...nullable(text, 'attendeeCost', 'boothCost'),
  ...nullable(texts, 'exhibitorIndustries', 'attendeePersonas', 'keywords'),
  ...nullable(text, 'website', 'description', 'eventUrl'),
  ...plain(flag, 'isBookmarked'),
];

/** The sections that are tables enough to be read and written as CSV, and their fields in the order of an export. */
export const CSV_FIELDS = { leads: LEADS, industryEvents: INDUSTRY_EVENTS } as const;

export type CsvSection = keyof typeof CSV_FIELDS;
export const CSV_SECTIONS = Object.keys(CSV_FIELDS) as CsvSection[];
