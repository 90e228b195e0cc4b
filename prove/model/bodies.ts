import fc, { type Arbitrary } from 'fast-check';
import type { Reference } from './references';
import { EVENT_TYPES, INTEGRATION_TYPES, PHONE_TYPES } from './rules';

/** Bodies of requests: valid ones, and ones with a field or two at an edge, of another type, or missing. */

/** Words that no stemmer changes and no other text has. */
export const word = fc.constantFrom('zbcdf', 'zghjk', 'zlmnp', 'zqrtv', 'zwxcv');
const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((some) => some.join(' '));

export const text = fc.constantFrom(
  'Ada',
  'Rowe',
  'Łódź',
  'a',
  'x y',
  '東京 🙂',
  "O'Hara",
  '"\\',
  '<b>&amp;</b>',
  ' lead ',
  '\t',
);
export const filled = fc.constantFrom('Ada', 'Rowe', 'Łódź', 'Cobalt Systems', '東京 🙂', "O'Hara", '%_\\', '-', '{}');
export const email = fc.constantFrom('ada@example.com', 'A.B+c@Example.CO', 'o_k-1@a.b.example.org');
const long = (n: number): Reference => ({ $: 'long', n });

/** What stands in the place of a field that is put wrong, or to its edge. */
const odd: Arbitrary<unknown> = fc.constantFrom<unknown>(
  ...[undefined, undefined, null, null, '', ' ', '\t\n', 0, 5, -1, 1.5, 2_147_483_647, 2_147_483_648, true, 'true'],
  ...[[], {}, [[]], [null], ['a', 5], [{}], [{ number: '1' }], { id: null }, 'nobody', 'a@b', 'NOTE', 'event'],
  ...['nul \0', '\ud800 lone', long(255), long(256), long(2048), long(2049), '🙂'.repeat(255)],
  ...['2026-02-30', '2026-1-1', '2024-W05', '2026-05-04T09:00:00', '0000-01-01', '2000-02-29', '9999-12-31'],
  ...[['a', 'x'.repeat(256)], Array.from({ length: 101 }, () => 'k'), Array.from({ length: 51 }, () => ({}))],
);
const veryOdd: Arbitrary<unknown> = fc.oneof(
  { weight: 40, arbitrary: odd },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(long(65_535), long(65_536)) },
);

/** A body that is valid three times of four. */
function mostly(valid: Arbitrary<Record<string, unknown>>, fields: string[]): Arbitrary<Record<string, unknown>> {
  const faults = fc.array(fc.tuple(fc.constantFrom(...fields, 'unknownField', 'id'), veryOdd), {
    minLength: 1,
    maxLength: 2,
  });
  const faulty = fc
    .tuple(valid, faults)
    .map(([body, wrong]) => withoutUndefined({ ...body, ...Object.fromEntries(wrong) }));
  return fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: faulty });
}

const withoutUndefined = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** A body with all of the required fields and some of the others. */
const body = (required: Record<string, Arbitrary<unknown>>, optional: Record<string, Arbitrary<unknown>> = {}) =>
  mostly(fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }), [
    ...Object.keys(required),
    ...Object.keys(optional),
  ]);

export const flag = fc.boolean();
export const days = {
  startDate: fc.constantFrom('2026-05-03', '2026-05-04'),
  endDate: fc.constantFrom('2026-05-04', '2026-05-06'),
};

export const eventTypes = fc.constantFrom(...EVENT_TYPES);
const event = { eventName: filled, eventType: eventTypes, ...days };
export const eventCreate = body({ ...event, createdByEmail: email }, { registrationEnabled: flag });
export const eventUpdate = body(event, { registrationEnabled: flag });

const phone = body({ number: filled, type: fc.constantFrom(...PHONE_TYPES), preferred: flag });
const phones = fc.oneof(
  { weight: 9, arbitrary: fc.array(phone, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.array(phone, { minLength: 49, maxLength: 51 }) },
);

export const leadCreate = body(
  { createdByEmail: email, firstName: filled, lastName: filled, companyName: filled },
  { email, phoneNumbers: phones },
);

export const orNull = (value: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) });

const remoteId = body({ id: orNull(filled), integrationType: fc.constantFrom(...INTEGRATION_TYPES.slice(0, 3)) });

/** Some fields of many: a body that names most of them is rare otherwise. */
const some = (fields: Record<string, Arbitrary<unknown>>): Arbitrary<Record<string, unknown>> =>
  fc
    .uniqueArray(fc.constantFrom(...Object.keys(fields)), { maxLength: 4 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, fields[name] ?? fc.constant(null)]))));

const patch = {
  ...{ firstName: orNull(text), lastName: orNull(text), email: orNull(email), address: orNull(text) },
  ...{ linkedin: orNull(text), facebook: orNull(text), twitter: orNull(text), profilePicture: orNull(text) },
  ...{ description: orNull(text), jobTitle: orNull(text), phoneNumbers: orNull(phones), remoteId },
};
export const leadPatch = mostly(some(patch), Object.keys(patch));

/** @param lead an id that stands for a lead */
export const eventLeads = (lead: Arbitrary<Reference>) => {
  // Most lists are right as a whole: one unknown lead refuses all.
  const living = fc.nat(5).map((n): Reference => ({ $: 'lead', n, of: 'own' }));
  const entry = (leadId: Arbitrary<Reference>) => body({ leadId }, { registered: flag, checkedIn: flag });
  const flags = fc.record({ leadId: living, registered: flag, checkedIn: flag }, { requiredKeys: ['leadId'] });
  const lists = fc.oneof(
    { weight: 6, arbitrary: fc.array(flags, { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.array(entry(lead), { maxLength: 3 }) },
  );
  return body({ eventLeads: lists as Arbitrary<unknown> });
};

export const eventUrl = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(null, 'HTTPS://example.com/0', 'https://example.com/0/') },
  { weight: 4, arbitrary: fc.nat(40).map((n) => `https://example.com/${n}`) },
);
const moments = fc.constantFrom(
  ...['2026-05-04', '2026-05-04T09:00:00Z', '2026-05-04T09:00:00.123456Z', '2026-05-04T00:30:00+02:00'],
  ...['2026-05-05', '2026-05-05T23:59:59.999-11:00', '2026-05-04T09:00Z'],
);
const list = fc.array(fc.oneof(words, text), { maxLength: 3 });
const number = fc.constantFrom(0, 1, 4000, 2_147_483_647);

/** What the rules of the catalogue are about. */
const ruled = {
  startDate: orNull(moments),
  endDate: orNull(fc.constantFrom('2026-05-06', '2026-05-05T00:00:00Z', '2026-05-04T12:00:00Z')),
  eventUrl,
};
const industryEvent = {
  ...{ sourceType: orNull(text), sourceId: orNull(text), eventType: orNull(text), venueCity: orNull(words) },
  ...{ venueState: orNull(words), venueCountry: orNull(words), venueName: orNull(text) },
  ...{ venueFullAddress: orNull(text), venueCoordinates: orNull(text), numberOfAttendees: orNull(number) },
  ...{ numberOfExhibitors: orNull(number), attendeeCost: orNull(text), boothCost: orNull(text) },
  ...{ exhibitorIndustries: orNull(list), attendeePersonas: orNull(list), keywords: orNull(list) },
  ...{ website: orNull(text), description: orNull(words) },
};
const industryFields = ['name', ...Object.keys({ ...ruled, ...industryEvent })];
export const industryEventFields = fc
  .tuple(some(industryEvent), fc.record(ruled, { requiredKeys: [] }), flag)
  .map(([fields, dates, isRuled]): Record<string, unknown> => (isRuled ? { ...fields, ...dates } : fields));
const validIndustryEvent = fc
  .tuple(fc.oneof(words, filled), industryEventFields)
  .map(([name, fields]): Record<string, unknown> => ({ ...fields, name }));
export const industryEventCreate = mostly(validIndustryEvent, industryFields);
export const industryEventUpdate = mostly(fc.oneof(industryEventFields, validIndustryEvent), industryFields);
