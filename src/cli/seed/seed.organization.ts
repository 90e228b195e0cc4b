import type { Faker } from '@faker-js/faker';
import { Chance, DAY, iso, slug } from './seed.chance';
import {
  ACTIVATION_TYPES,
  ACTIVATIONS_AN_EVENT,
  INDUSTRIES,
  KINDS,
  Seed,
  sizesOf,
  TAG_GROUPS,
  TOPICS,
} from './seed.plan';

/** What leads are met in and by. */
export type World = ReturnType<typeof invent>;
export type Event = World['events'][number];

const YEARS = 3 * 365 * DAY;

/** All of an organization but its leads. */
export function invent(seed: Seed, chance: Chance) {
  const sizes = sizesOf(seed);
  const end = Date.parse(`${seed.until}T00:00:00Z`);
  const users = times(sizes.users, (index) => ({ ...user(chance, index), createdAt: iso(end - YEARS) }));
  const tagGroups = TAG_GROUPS.map((_, index) => tagGroup(chance, end - YEARS, index));
  const events = times(sizes.events, (index) => {
    // One after the other, but for the last, which is still to come.
    const isLast = index === sizes.events - 1;
    const ago = YEARS * (1 - (index + chance.upTo(1)) / (sizes.events - 1));
    const start = end + (isLast ? (7 + chance.below(60)) * DAY : -Math.ceil(ago / DAY) * DAY);
    const own = { ref: `seed-${seed.seed}-${index + 1}`, tagGroups: tagGroups.map(({ id }) => id) };
    return { ...own, ...event(chance, start, users) };
  });
  const activations = new Map(events.map((of) => [of.ref, activationsOf(chance, of, users)]));
  const companies = times(sizes.companies, () => company(chance));
  return { end, users, tagGroups, events, activations, companies };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

interface User {
  email: string;
  firstName: string;
  lastName: string;
}

function user(chance: Chance, index: number): User {
  const { faker } = chance.place();
  const [firstName, lastName] = [faker.person.firstName(), faker.person.lastName()];
  // Users are told apart by their addresses.
  return { email: `${slug(firstName)}.${slug(lastName)}.${index + 1}@exhibitor.example`, firstName, lastName };
}

function tagGroup(chance: Chance, createdAt: number, index: number) {
  const { name = '', options = [], several = false } = TAG_GROUPS[index] ?? {};
  return {
    id: chance.id(createdAt, `tag group ${name}`),
    createdAt: iso(createdAt),
    name,
    status: 'PUBLISHED',
    allowsMultipleSelection: several,
    displayOrder: index,
    usageInstructions: several ? 'Choose all that apply.' : null,
    required: index === 0,
    allEvents: true,
    tagOptions: options.map((value, at) => ({
      id: chance.id(createdAt, `tag option ${name}/${value}`),
      displayOrder: at,
      value,
    })),
  };
}

function event(chance: Chance, start: number, users: User[]) {
  const { faker, country, timeZone, latitude, longitude } = chance.place();
  const city = faker.location.city();
  const { type, word, days } = chance.faker.helpers.weightedArrayElement(KINDS);
  return {
    name: `${city} ${chance.one(TOPICS)} ${word} ${new Date(start).getUTCFullYear()}`,
    type,
    registrationEnabled: chance.happens(0.7),
    startDate: iso(start).slice(0, 10),
    endDate: iso(start + chance.below(days) * DAY).slice(0, 10),
    location: {
      ...{ streetAddress: faker.location.streetAddress(), city, zip: faker.location.zipCode(), country, timeZone },
      latitude: (latitude + chance.upTo(1)).toFixed(4),
      longitude: (longitude + chance.upTo(1)).toFixed(4),
    },
    users: chance.faker.helpers.arrayElements(users, { min: 1, max: 4 }).map(({ email }) => email),
    createdAt: iso(start - 60 * DAY),
    createdBy: chance.one(users).email,
  };
}

function activationsOf(chance: Chance, of: { ref: string } & ReturnType<typeof event>, users: User[]) {
  const others = chance.faker.helpers.arrayElements(ACTIVATION_TYPES, ACTIVATIONS_AN_EVENT - 1);
  return ['BOOTH', ...others].map((type, index) => {
    const isBooth = type === 'BOOTH';
    const hour = 8 + chance.below(10);
    const clock = (hours: number): string => `${String(hours).padStart(2, '0')}:00:00`;
    return {
      id: chance.id(Date.parse(of.createdAt), `activation ${of.ref}/${index}`),
      createdAt: of.createdAt,
      event: of.ref,
      name: `${of.name}: ${type.toLowerCase().replace('_', ' ')}`,
      type,
      startDate: of.startDate,
      endDate: isBooth ? of.endDate : of.startDate,
      startTime: isBooth ? clock(9) : clock(hour),
      endTime: isBooth ? clock(18) : clock(hour + 1),
      createdBy: of.createdBy,
      location: of.location,
      users: chance.faker.helpers.arrayElements(users, { min: 1, max: 3 }).map(({ email }) => email),
      numberOfScans: chance.below(200),
    };
  });
}

interface Company {
  name: string;
  domain: string;
  industry: string;
  city: string;
  country: string;
  /** of the place whose names its people have */
  faker: Faker;
}

function company(chance: Chance): Company {
  const { faker, country } = chance.place();
  const name = faker.company.name();
  // A part of an address has 63 characters at most, and some companies have many partners.
  const domain = `${slug(name.slice(0, 40))}.example`;
  return { name, domain, industry: chance.one(INDUSTRIES), city: faker.location.city(), country, faker };
}
