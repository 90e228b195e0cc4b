import { isEmail } from 'class-validator';
import type { Fields } from './records';

/** What the contract says of the fields of bodies: which of them is the first at fault, and by what path it is named. */

/** The path of the fault below the field ('' for the field itself), or undefined. */
type Check = (value: unknown, holder: Fields) => string | undefined;
type Presence = 'required' | 'optional' | 'nullable' | 'required or null';
export type Rules = [name: string, presence: Presence, check: Check][];

export function firstFault(rules: Rules, body: Fields): string | undefined {
  for (const [name, presence, check] of rules) {
    const value = body[name];
    if (value === undefined ? presence.startsWith('required') : value === null && !presence.includes('null')) {
      return name;
    }
    const fault = value === undefined || value === null ? undefined : check(value, body);
    if (fault !== undefined) return name + fault;
  }
  return undefined;
}

const that =
  (valid: (value: unknown) => boolean): Check =>
  (value) =>
    valid(value) ? undefined : '';

const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed() && [...value].length <= most;

const text = (most = 255): Check => that((value) => isText(value, most));
const filled = (most = 255): Check => that((value) => isText(value, most) && value.trim() !== '');
const email = that((value) => isText(value, 255) && isEmail(value) && !/[\p{Cc}\p{Cf}\p{Z}]/u.test(value));
const flag = that((value) => typeof value === 'boolean');
const count = that((value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 2_147_483_647);
const texts = that((value) => Array.isArray(value) && value.length <= 100 && value.every((each) => isText(each, 255)));
const oneOf = (...values: string[]): Check => that((value) => values.includes(value as string));

export const isUuid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value);

const object =
  (rules: Rules): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
    const fault = firstFault(rules, value as Fields);
    return fault === undefined ? undefined : `.${fault}`;
  };

const list =
  (most: number, each: Check, least = 0): Check =>
  (value, holder) => {
    if (!Array.isArray(value) || value.length < least || value.length > most) return '';
    for (const [index, item] of value.entries()) {
      const fault = each(item, holder);
      if (fault !== undefined) return `[${index}]${fault}`;
    }
    return undefined;
  };

/** A day of the calendar comes out of a Date as it went in. */
const isDay = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value) || value.startsWith('0000')) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
};

/** The moment that a date-time of ISO 8601 with a zone, or a plain day, means; undefined for anything else. */
export function momentOf(value: unknown): string | undefined {
  if (isDay(value)) return `${value}T00:00:00.000Z`;
  if (typeof value !== 'string') return undefined;
  const parts = /^(.{10})T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:\d\d)?)$/.exec(value);
  if (!isDay(parts?.[1])) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

const moment = that((value) => momentOf(value) !== undefined);
const lastMoment: Check = (value, { startDate }) => {
  const [end, start] = [momentOf(value), momentOf(startDate)];
  return end !== undefined && !(start !== undefined && end < start) ? undefined : '';
};

export const PHONE_TYPES = ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'];
export const INTEGRATION_TYPES = [
  'WEBHOOK',
  'MARKETO',
  'HUB_SPOT',
  'ZOHO',
  'SALES_FORCE',
  'PIPE_DRIVE',
  'ELOQUA',
  'PARDOT',
];
const PHONE_NUMBER: Rules = [
  ['number', 'required', filled()],
  ['type', 'required', oneOf(...PHONE_TYPES)],
  ['preferred', 'required', flag],
];

export const LEAD_CREATE: Rules = [
  ['createdByEmail', 'required', email],
  ['firstName', 'required', filled()],
  ['lastName', 'required', filled()],
  ['companyName', 'required', filled()],
  ['email', 'optional', email],
  ['phoneNumbers', 'optional', list(50, object(PHONE_NUMBER))],
];

const REMOTE_ID: Rules = [
  ['id', 'required or null', filled()],
  ['integrationType', 'required', oneOf(...INTEGRATION_TYPES)],
];

const nullable = (check: Check, ...names: string[]): Rules => names.map((name) => [name, 'nullable', check]);

export const LEAD_PATCH: Rules = [
  ...nullable(text(), 'firstName', 'lastName'),
  ...nullable(email, 'email'),
  ...nullable(text(65_535), 'address'),
  ...nullable(text(2048), 'linkedin', 'facebook', 'twitter', 'profilePicture'),
  ...nullable(text(65_535), 'description'),
  ...nullable(text(), 'jobTitle'),
  ...nullable(list(50, object(PHONE_NUMBER)), 'phoneNumbers'),
  ['remoteId', 'optional', object(REMOTE_ID)],
];

const [, , ...LEAD_PATCH_REST] = LEAD_PATCH;
const LEAD_CREATION: Rules = [
  ...nullable(email, 'createdByEmail'),
  ...nullable(text(), 'firstName', 'lastName'),
  ...nullable(filled(), 'companyName'),
];
const REQUIRED_REMOTE_ID = object(REMOTE_ID.map(([name, , check]) => [name, 'required', check]));

/** An entry of a batch: the field by which it is matched must be there, and without one all that a new lead needs. */
const batched = (matchBy: unknown): Rules => {
  if (matchBy === 'none') return [...LEAD_CREATE.slice(0, 4), ...LEAD_PATCH_REST];
  return [...LEAD_CREATION, ...LEAD_PATCH_REST].map(([name, presence, check]) =>
    name !== matchBy ? [name, presence, check] : [name, 'required', name === 'remoteId' ? REQUIRED_REMOTE_ID : check],
  );
};

export const LEAD_BATCH: Rules = [
  ['matchBy', 'required', oneOf('email', 'remoteId', 'none')],
  ['leads', 'required', (value, batch) => list(200, object(batched(batch.matchBy)), 1)(value, batch)],
];

export const isFilter = (value: string): boolean => isText(value, 255) && value.trim() !== '';

/** The order of the record's table. A blank eventUrl is refused: it names no event. */
const INDUSTRY_EVENT: Rules = [
  ...nullable(moment, 'startDate'),
  ...nullable(lastMoment, 'endDate'),
  ...nullable(text(), 'sourceType', 'sourceId', 'eventType', 'venueCity', 'venueState', 'venueCountry', 'venueName'),
  ...nullable(text(65_535), 'venueFullAddress'),
  ...nullable(text(), 'venueCoordinates'),
  ...nullable(count, 'numberOfAttendees', 'numberOfExhibitors'),
  ...nullable(text(), 'attendeeCost', 'boothCost'),
  ...nullable(texts, 'exhibitorIndustries', 'attendeePersonas', 'keywords'),
  ...nullable(text(2048), 'website'),
  ...nullable(text(65_535), 'description'),
  ...nullable(filled(2048), 'eventUrl'),
];
export const INDUSTRY_EVENT_FIELDS = ['name', ...INDUSTRY_EVENT.map(([name]) => name)];
export const INDUSTRY_EVENT_CREATE: Rules = [['name', 'required', filled()], ...INDUSTRY_EVENT];
export const INDUSTRY_EVENT_UPDATE: Rules = [['name', 'optional', filled()], ...INDUSTRY_EVENT];
