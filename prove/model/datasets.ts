import fc, { Arbitrary } from 'fast-check';
import { validIndustryEvent, values } from './bodies';
import type { Dataset } from './import';
import type { Reference } from './references';
import { ACTIVITY_TYPES, EVENT_TYPES, INTEGRATION_TYPES } from './rules';

/**
 * Datasets for an import. Ids are of a small range, so that records are imported again and other organizations hold
 * some of them. New records carry `createdAt`, which the answer to an import does not tell.
 */

const { text, filled, email, flag, orNull, phones } = values;

const fresh = (from: number, count: number): Arbitrary<Reference> =>
  fc.nat(count - 1).map((n): Reference => ({ $: 'new', n: from + n }));

/** Few moments, so that ids have to decide about places. */
const createdAt = fc.nat(19).map((n) => new Date(Date.UTC(2020, 0, 1) + n * 1001).toISOString());

const sometimes = (fields: Record<string, Arbitrary<unknown>>, always: Record<string, Arbitrary<unknown>>) =>
  fc.record({ ...fields, ...always }, { requiredKeys: Object.keys(always) });

const own = (kind: Reference['$'], place: Arbitrary<number>): Arbitrary<Reference> =>
  fc.tuple(place, fc.nat(30)).map(([n, rare]): Reference => ({ $: kind, n, of: rare === 0 ? 'foreign' : 'own' }));

const users = fc.uniqueArray(fc.nat(7), { maxLength: 3 }).chain((numbers) =>
  fc.tuple(
    ...numbers.map((n) =>
      sometimes(
        { firstName: orNull(text), lastName: orNull(text) },
        // Users are listed by their creation, which nobody is told: every user has a moment of its own.
        { email: fc.constant(`user${n}@example.com`), createdAt: fc.constant(new Date(n * 1000).toISOString()) },
      ),
    ),
  ),
);

const tagGroup = fc.nat(5).chain((n) =>
  sometimes(
    {
      ...{ status: fc.constantFrom('ARCHIVED', 'DRAFT', 'PUBLISHED'), allowsMultipleSelection: flag },
      ...{ displayOrder: fc.nat(9), usageInstructions: orNull(text), required: flag, allEvents: flag },
      tagOptions: fc.subarray([0, 1, 2]).chain((options) =>
        fc.tuple(
          ...options.map((option) =>
            fc.record({
              id: fc.constant<Reference>({ $: 'new', n: 0x2000 + n * 4 + option }),
              ...{ displayOrder: fc.nat(2), value: filled },
            }),
          ),
        ),
      ),
    },
    { id: fc.constant<Reference>({ $: 'new', n: 0x1000 + n }), name: filled, createdAt },
  ),
);

const location = orNull(sometimes({ city: orNull(text), latitude: text, timeZone: filled }, {}));
const days = {
  startDate: fc.constantFrom('2026-05-03', '2026-05-04'),
  endDate: fc.constantFrom('2026-05-04', '2026-05-06'),
};

const event = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ registrationEnabled: flag, location, ...days, createdBy: email },
      tagGroups: fc.array(own('tagGroup', place), { maxLength: 2 }),
      users: fc.uniqueArray(own('user', place), { maxLength: 2, selector: ({ n }) => n }),
    },
    { ref: fc.nat(7).map((n) => `ref-${n}`), name: filled, type: fc.constantFrom(...EVENT_TYPES), createdAt },
  );

const activation = (place: Arbitrary<number>) =>
  sometimes(
    { createdBy: orNull(email), location, users: fc.array(email, { maxLength: 2 }), numberOfScans: fc.nat(9) },
    {
      ...{ id: fresh(0x3000, 10), event: own('eventRef', place), name: filled, ...days, createdAt },
      ...{ type: fc.constantFrom('BOOTH', 'BREAKFAST', 'OTHER'), startTime: fc.constant('09:00:00') },
      endTime: fc.constant('18:30:59'),
    },
  );

const remoteIds = fc
  .subarray(INTEGRATION_TYPES)
  .chain((types) =>
    fc.tuple(
      ...types.map((integrationType) => fc.record({ id: filled, integrationType: fc.constant(integrationType) })),
    ),
  );

const lead = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ firstName: orNull(text), lastName: orNull(text), email: orNull(email), description: orNull(text) },
      ...{ linkedin: text, jobTitle: orNull(text), isEnriched: flag, numberOfScans: fc.nat(9) },
      ...{ lastScannedBy: orNull(email), personalEmails: orNull(text), professionalEmails: text },
      company: orNull(sometimes({ name: orNull(text), zip: text }, {})),
      phoneNumbers: orNull(sometimes({ leadProvided: phones, serviceProvided: phones }, {})),
      tags: fc.array(fc.record({ tagOptionId: own('tagOption', place) }), { maxLength: 2 }),
      activations: fc.array(
        sometimes({ registered: flag, checkedIn: flag }, { activationId: own('activation', place) }),
        { maxLength: 2 },
      ),
      events: fc.array(sometimes({ registered: flag, checkedIn: flag }, { event: own('eventRef', place) }), {
        maxLength: 2,
      }),
      remoteIds,
    },
    { id: fc.oneof(fresh(0x4000, 40), own('lead', place)), createdAt },
  );

const activity = (place: Arbitrary<number>) =>
  sometimes(
    {
      ...{ createdBy: orNull(email), eventNotes: orNull(text), associatedCampaign: orNull(fresh(0x7000, 3)) },
      ...{ associatedEvent: orNull(own('eventRef', place)), associatedActivation: orNull(own('activation', place)) },
      associatedTagOption: orNull(own('tagOption', place)),
    },
    {
      ...{ id: fresh(0x5000, 60), createdAt, associatedLead: own('lead', place) },
      eventType: fc.constantFrom(...ACTIVITY_TYPES.slice(0, 6)),
    },
  );

/** Few eventUrls, so that records of a dataset take them from each other. */
const eventUrl = fc.record({ eventUrl: fc.nat(5).map((n) => `https://example.com/${n}`) });

/** With an id, an eventUrl or both: what has neither would get an id that nobody is told. */
const industryEvent = fc
  .tuple(
    validIndustryEvent,
    sometimes({ isBookmarked: flag }, { createdAt, updatedAt: createdAt }),
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ id: fresh(0x6000, 20) }) },
      {
        weight: 2,
        arbitrary: fc.tuple(fc.record({ id: fresh(0x6000, 6) }), eventUrl).map(([id, url]) => ({ ...id, ...url })),
      },
      { weight: 1, arbitrary: eventUrl },
    ),
  )
  .map(([record, made, means]) => ({ ...record, ...made, ...means }));

/** At most as many records of a section, each meaning another one. */
const several = <T>(record: Arbitrary<T>, most: number): Arbitrary<T[]> =>
  fc.uniqueArray(record, {
    ...{
      maxLength: most,
      selector: (each) => JSON.stringify((each as { id?: unknown }).id ?? (each as { ref?: unknown }).ref),
    },
  });

const sectionsOf = (place: Arbitrary<number>): Record<string, Arbitrary<unknown[]>> => ({
  users,
  tagGroups: several(tagGroup, 2),
  events: several(event(place), 2),
  activations: several(activation(place), 2),
  leads: several(lead(place), 4),
  leadActivityEvents: several(activity(place), 5),
  industryEvents: fc.array(industryEvent, { maxLength: 4 }),
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
  fc.tuple(
    ...Object.entries(sectionsOf(place)).map(([name, records]) => fc.record({ [name]: records })),
    fc.record({ leadActivityEvents: several(activity(place), 5) }),
  ) as Arbitrary<Dataset[]>;
