import fc, { type Arbitrary } from 'fast-check';
import { days, email, eventTypes, filled, flag, industryEventFields, orNull, text } from './bodies';
import type { Dataset } from './import';
import type { Reference } from './references';
import { ACTIVITY_TYPES, firstFault, INDUSTRY_EVENT_UPDATE, INTEGRATION_TYPES, PHONE_TYPES } from './rules';

/** Datasets for an import, of records that are new: they carry `createdAt`, which the answer to an import does not tell. */

// Without a bias, so that numbers do not meet.
const number = fc.noBias(fc.nat(2 ** 40));
const newId = number.map((n): Reference => ({ $: 'new', n }));

/** Few moments, so that ids have to decide about places. */
const createdAt = fc.nat(19).map((n) => new Date(Date.UTC(2020, 0, 1) + n * 1001).toISOString());

const sometimes = (fields: Record<string, Arbitrary<unknown>>, always: Record<string, Arbitrary<unknown>>) =>
  fc.record({ ...fields, ...always }, { requiredKeys: Object.keys(always) });

/** Something of the organization, and rarely of another one. */
const own = (kind: Reference['$'], place: Arbitrary<number>): Arbitrary<Reference> =>
  fc.tuple(place, fc.nat(30)).map(([n, rare]): Reference => ({ $: kind, n, of: rare === 0 ? 'foreign' : 'own' }));

const user = number.chain((n) =>
  sometimes(
    { firstName: orNull(text), lastName: orNull(text) },
    // Users are listed by their creation and then by ids that nothing shows: each has a moment of its own.
    { email: fc.constant(`user${n}@example.com`), createdAt: fc.constant(new Date(n).toISOString()) },
  ),
);

const tagOption = fc.record({ id: newId, displayOrder: fc.nat(2), value: filled });

const tagGroup = sometimes(
  {
    ...{ status: fc.constantFrom('ARCHIVED', 'DRAFT', 'PUBLISHED'), allowsMultipleSelection: flag },
    ...{ displayOrder: fc.nat(9), usageInstructions: orNull(text), required: flag, allEvents: flag },
    tagOptions: fc.array(tagOption, { maxLength: 3 }),
  },
  { id: newId, name: filled, createdAt },
);

const location = orNull(sometimes({ city: orNull(text), latitude: text, timeZone: filled }, {}));

const event = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ registrationEnabled: flag, location, ...days, createdBy: email },
      tagGroups: fc.array(own('tagGroup', place), { maxLength: 2 }),
      users: fc.uniqueArray(own('user', place), { maxLength: 1 }),
    },
    { ref: number.map((n) => `ref-${n}`), name: filled, type: eventTypes, createdAt },
  );

const activation = (place: Arbitrary<number>) =>
  sometimes(
    { createdBy: orNull(email), location, users: fc.array(email, { maxLength: 2 }), numberOfScans: fc.nat(9) },
    {
      ...{ id: newId, event: own('eventRef', place), name: filled, ...days, createdAt },
      ...{ type: fc.constantFrom('BOOTH', 'BREAKFAST', 'OTHER'), startTime: fc.constant('09:00:00') },
      endTime: fc.constant('18:30:59'),
    },
  );

const remoteIds = fc
  .subarray(INTEGRATION_TYPES)
  .chain((types) => fc.tuple(...types.map((type) => fc.record({ id: filled, integrationType: fc.constant(type) }))));

const phone = fc.record({ number: filled, type: fc.constantFrom(...PHONE_TYPES), preferred: flag });
const phones = fc.array(phone, { maxLength: 2 });

const flags = { registered: flag, checkedIn: flag };

const lead = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ firstName: orNull(text), lastName: orNull(text), email: orNull(email), description: orNull(text) },
      ...{ linkedin: text, jobTitle: orNull(text), isEnriched: flag, numberOfScans: fc.nat(9), remoteIds },
      ...{ lastScannedBy: orNull(email), personalEmails: orNull(text), professionalEmails: text },
      company: orNull(sometimes({ name: orNull(text), zip: text }, {})),
      phoneNumbers: orNull(sometimes({ leadProvided: phones, serviceProvided: phones }, {})),
      tags: fc.array(fc.record({ tagOptionId: own('tagOption', place) }), { maxLength: 2 }),
      activations: fc.array(sometimes(flags, { activationId: own('activation', place) }), { maxLength: 2 }),
      events: fc.array(sometimes(flags, { event: own('eventRef', place) }), { maxLength: 2 }),
    },
    { id: newId, createdAt },
  );

const activity = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ createdBy: orNull(email), eventNotes: orNull(text), associatedCampaign: orNull(newId) },
      ...{ associatedEvent: orNull(own('eventRef', place)), associatedActivation: orNull(own('activation', place)) },
      associatedTagOption: orNull(own('tagOption', place)),
    },
    {
      ...{ id: newId, createdAt, associatedLead: own('lead', place) },
      eventType: fc.constantFrom(...ACTIVITY_TYPES.slice(0, 6)),
    },
  );

const industryEvent = fc
  .tuple(
    industryEventFields.filter((fields) => firstFault(INDUSTRY_EVENT_UPDATE, fields) === undefined),
    sometimes({ isBookmarked: flag, updatedAt: createdAt }, { id: newId, name: filled, createdAt }),
    number.map((n) => ({ eventUrl: `https://example.com/imported/${n}` })),
  )
  .map((parts) => Object.assign({}, ...parts) as Record<string, unknown>);

const several = <T>(record: Arbitrary<T>): Arbitrary<T[]> => fc.array(record, { minLength: 1, maxLength: 4 });

const sectionsOf = (place: Arbitrary<number>): Record<string, Arbitrary<unknown[]>> => ({
  users: several(user),
  tagGroups: several(tagGroup),
  events: several(event(place)),
  activations: several(activation(place)),
  leads: several(lead(place)),
  leadActivityEvents: several(activity(place)),
  industryEvents: several(industryEvent),
});

/**
 * Often of one section, because one unknown reference refuses the whole.
 * @param place which of an organization's things a record refers to
 */
export const datasets = (place: Arbitrary<number>): Arbitrary<Dataset> => {
  const sections = sectionsOf(place);
  const alone = Object.entries(sections).map(([name, records]) => fc.record({ [name]: records }));
  return fc.oneof(...alone, fc.record(sections, { requiredKeys: [] })) as Arbitrary<Dataset>;
};

/** One dataset a section, in an order in which what is referred to comes first. */
export const firstDatasets = (place: Arbitrary<number>): Arbitrary<Dataset[]> =>
  fc.tuple(...Object.entries(sectionsOf(place)).map(([name, records]) => fc.record({ [name]: records }))) as Arbitrary<
    Dataset[]
  >;
