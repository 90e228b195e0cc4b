import type { Random } from '../support/random';
import { type Call, type EndpointName, ENDPOINTS, type Payload } from './endpoints';
import { RESOURCES } from './changes';
import { KNOWN } from './model';
import type { Fields, State, Tenant } from './records';
import { ACTIVITY_TYPES, EVENT_TYPES, INDUSTRY_EVENT_FIELDS, INTEGRATION_TYPES, PHONE_TYPES } from './rules';

/** Random requests: mostly ones that make sense together, some at their edges, some wrong. */
const TEXTS = ['Ada', 'Łódź', 'a', 'x y', '東京 🙂', "O'Hara", '"\\', '<b>&amp;</b>', ' lead ', '\t'];
const FILLED = ['Ada', 'Łódź', 'Cobalt Systems', '東京 🙂', "O'Hara", '%_\\', '-', '{}'];
const EMAILS = ['ada@example.com', 'A.B+c@Example.CO', 'o_k-1@a.b.example.org'];
/** By which batches meet each other and what else is there. */
const MATCHED_EMAILS = ['ADA@example.com', 'a.b+C@example.co', ...[1, 2, 3, 4].map((n) => `lead${n}@example.com`)];
const MATCHED_IDS = ['WEBHOOK', 'HUB_SPOT', 'ZOHO'].flatMap((integrationType) =>
  ['w-1', 'h-1', 'Łódź'].map((id) => ({ id, integrationType })),
);
const MOMENTS = [
  '2026-05-04',
  '2026-05-04T09:00:00Z',
  '2026-05-04T09:00:00.123456Z',
  '2026-05-04T00:30:00+02:00',
  '2026-05-05',
  '2026-05-05T23:59:59.999-11:00',
  '2026-05-04T09:00Z',
  null,
];
const LAST_MOMENTS = ['2026-05-06', '2026-05-05T00:00:00Z', '2026-05-04T12:00:00Z', null];
/** Words that no stemmer changes and no other text has. */
const WORDS = ['zbcdf', 'zghjk', 'zlmnp', 'zqrtv', 'zwxcv'];

/** What stands in the place of a field that is wrong, or at its edge; undefined leaves it out. */
const ODD: unknown[] = [
  undefined,
  undefined,
  null,
  null,
  '',
  ' ',
  '\t\n',
  0,
  5,
  -1,
  1.5,
  2_147_483_647,
  2_147_483_648,
  true,
  'true',
  [],
  {},
  [[]],
  [null],
  ['a', 5],
  [{}],
  [{ number: '1' }],
  { id: null },
  'nobody',
  'a@b',
  'NOTE',
  'event',
  'nul \0',
  '\ud800 lone',
  ...[255, 256, 2048, 2049, 65_536].map((n) => 'x'.repeat(n)),
  '🙂'.repeat(255),
  '2026-02-30',
  '2026-1-1',
  '2024-W05',
  '2026-05-04T09:00:00',
  '0000-01-01',
  '2000-02-29',
  '9999-12-31',
  ['a', 'x'.repeat(256)],
  Array<string>(101).fill('k'),
  Array<object>(51).fill({}),
];

const MALFORMED_IDS = {
  event: ['0', '-1', '1.5', '0x10', '9007199254740992', 'abc', '1e3', ' 1', '1\0'],
  other: ['abc', '1', '00000000-0000-4000-8000-00000000000', '{00000000-0000-4000-8000-000000000000}', '\0', "'"],
};
const WRONG_KEYS = [[], [''], [' '], ['lan_unknown'], [`lan_${'0'.repeat(49)}`], ['a', 'b']];
const WRONG_NUMBERS = ['', '-1', '1.5', 'x', ' 5', '1e1', '0x10', '+1', '٣', '9'.repeat(30), '2147483648'];
const WRONG_PLACES = Object.entries({
  cursor: ['', ' ', 'x', '\0', 'x'.repeat(1025)],
  resources: ['', 'leads,leads', 'users', 'leads,', 'LEADS'],
  since: ['', 'NOW'],
}).flatMap(([name, values]) => values.map((value): Call['query'][number] => [name, value]));
const NO_OBJECTS = ['', '{', '[]', 'null', '"text"', '5', '{"a":1}}', '[{}]'];

/** How often each endpoint is asked (else 3); deletions are fewer than creations, so that lists grow. */
const OFTEN: Partial<Record<EndpointName, number>> = {
  createEvent: 5,
  createLead: 10,
  createIndustryEvent: 6,
  associateEventLeads: 12,
  patchLead: 10,
  upsertLeads: 8,
  listLeads: 6,
  listChanges: 12,
  updateIndustryEvent: 6,
  dissociateEventLead: 5,
  replaceEvent: 4,
  listEventLeads: 6,
  listIndustryEvents: 8,
  deleteEvent: 2,
  deleteLead: 4,
  listLeadActivityEvents: 10,
  bookmarkIndustryEvent: 4,
};
const NAMES = (Object.keys(ENDPOINTS) as EndpointName[]).filter((name) => KNOWN.includes(name));
const WEIGHTS = NAMES.map((name) => [OFTEN[name] ?? 3, name] as const);

/** Endpoints whose requests meet when they are asked at once. */
const CLASHES: EndpointName[][] = [
  ['associateEventLeads', 'deleteLead', 'dissociateEventLead', 'listEventLeads', 'deleteEvent', 'listChanges'],
  ['patchLead', 'deleteLead', 'getLead', 'listLeads', 'createLead'],
  ['upsertLeads', 'patchLead', 'deleteLead', 'listLeads', 'createLead', 'listChanges'],
  [
    'createIndustryEvent',
    'updateIndustryEvent',
    'listIndustryEvents',
    'bookmarkIndustryEvent',
    'listBookmarkedIndustryEvents',
  ],
  ['createEvent', 'listEvents', 'deleteEvent', 'replaceEvent', 'getEvent'],
  ...[['createLead'], ['upsertLeads'], ['upsertLeads'], ['createIndustryEvent'], ['associateEventLeads']].map(
    (each) => each as EndpointName[],
  ),
];

/** A table of records, by what keys they are found. */
interface Keyed {
  living(): (string | number)[];
  gone(): (string | number)[];
}

export class Generator {
  constructor(
    private readonly random: Random,
    private readonly state: State,
  ) {}

  /** One request, or rarely several to be made at once. */
  calls(): Call[] {
    if (this.random.chance(0.92)) return [this.call(this.random.weighted(WEIGHTS))];
    const count = this.random.between(2, 4);
    const names = this.random.pick(CLASHES);
    const isClash = this.random.chance(0.5);
    return Array.from({ length: count }, () =>
      this.call(isClash ? this.random.pick(names) : this.random.weighted(WEIGHTS)),
    );
  }

  /** The first organizations see most of what happens. */
  tenant(): Tenant {
    const all = this.state.tenants.list();
    return all[Math.min(this.random.pick([0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 4]), all.length - 1)] as Tenant;
  }

  private call(endpoint: EndpointName): Call {
    const tenant = this.tenant();
    const limited = this.state.keys.list().filter((key) => !key.isMain && key.organization === tenant.id);
    const own = this.state.mainKey(tenant.id);
    const keys = this.random.weighted([
      [90, [own]],
      [8, [limited.length > 0 ? this.random.pick(limited).value : own]],
      [2, this.random.pick(WRONG_KEYS)],
    ]);
    const ids = ENDPOINTS[endpoint].ids.map((kind) => this.id(tenant, kind));
    const association = this.random.pick([undefined, ...tenant.associations.living()]);
    const isAssociated = endpoint === 'dissociateEventLead' && association !== undefined;
    return {
      endpoint,
      keys,
      ids: isAssociated ? association.split('/') : ids,
      query: this.query(endpoint, tenant),
      payload: this.payload(endpoint, tenant),
    };
  }

  /** Mostly one of the newest few, so that requests meet. */
  private recent<T>(items: readonly T[]): T | undefined {
    return items[this.random.below(this.random.chance(0.8) ? Math.min(items.length, 4) : items.length)];
  }

  private id(tenant: Tenant, kind: string): string {
    const isEvent = kind === 'event';
    const unknown = isEvent ? String(900_000 + this.random.below(1000)) : this.random.uuid();
    const others = this.state.tenants.list().filter((each) => each !== tenant);
    const tableOf = ({ events, leads, activities, activations, tagGroups }: Tenant): Keyed => {
      const tables = { event: events, lead: leads, note: activities, activation: activations, tagGroup: tagGroups };
      return (tables as Partial<Record<string, Keyed>>)[kind] ?? this.state.catalogue;
    };
    const id = this.random.weighted([
      [80, () => this.recent(tableOf(tenant).living())],
      [3, () => this.recent(tableOf(tenant).living())?.toString().toUpperCase()],
      [2, () => undefined],
      [2, () => this.random.pick(MALFORMED_IDS[isEvent ? 'event' : 'other'])],
      [3, () => this.recent(tableOf(tenant).gone())],
      [5, () => this.recent(tableOf(this.random.pick(others)).living())],
    ])();
    return String(id ?? unknown);
  }

  private query(endpoint: EndpointName, tenant: Tenant): Call['query'] {
    if (!endpoint.startsWith('list') || endpoint === 'listBookmarkedIndustryEvents') return [];
    const { random } = this;
    const number = (): string => (random.chance(0.8) ? String(random.below(61)) : random.pick(WRONG_NUMBERS));
    const query = random.weighted<() => Call['query']>([
      [3, () => []],
      [4, () => Object.entries({ limit: String(random.between(1, 13)), offset: String(random.below(5)) })],
      [2, () => [[random.pick(['limit', 'offset', 'other']), number()]]],
      [1, () => ['limit', 'limit'].map((name): Call['query'][number] => [name, number()])],
    ])();
    if (endpoint === 'listLeadActivityEvents') {
      if (random.chance(0.5)) query.push(['leadId', this.id(tenant, 'lead')]);
      if (random.chance(0.5)) query.push(['eventType', random.pick([...ACTIVITY_TYPES.slice(0, 4), 'note', ''])]);
    }
    if (endpoint === 'listLeads') {
      if (random.chance(0.4)) query.push(['email', random.pick([...EMAILS, ...MATCHED_EMAILS, '', ' ', '\0', 'x'])]);
      const { id, integrationType } = random.pick(MATCHED_IDS);
      if (random.chance(0.4)) query.push(['remoteId', id], ['integrationType', integrationType]);
      if (random.chance(0.1)) query.push([random.pick(['remoteId', 'integrationType']), random.pick([id, 'zoho'])]);
    }
    if (endpoint === 'listChanges') query.push(...this.place(tenant));
    if (endpoint === 'listIndustryEvents') {
      if (random.chance(0.6)) query.push(['q', this.search()]);
      if (random.chance(0.3)) query.push(['eventUrl', this.eventUrl()]);
    }
    return query;
  }

  /** Where a page of the feed begins: mostly where the last one ended. */
  private place({ followers }: Tenant): Call['query'] {
    const { random } = this;
    const cursors = followers.living();
    const others = this.state.tenants.list().flatMap((tenant) => tenant.followers.living());
    const cursor = ([text]: string[]): Call['query'] => (text === undefined ? [] : [['cursor', text]]);
    const resources = (): Call['query'] => [['resources', random.some(RESOURCES, random.between(1, 6)).join()]];
    return random.weighted<() => Call['query']>([
      [12, () => cursor(cursors)],
      [4, () => cursor(random.some(cursors, 1))],
      [1, resources],
      [2, () => [['since', 'now'], ...random.pick([[], resources()])]],
      [1, () => [...cursor(cursors), ...resources()]],
      [1, () => cursor(random.some(others, 1))],
      [1, () => [random.pick(WRONG_PLACES), ...random.pick([[], cursor(cursors)])]],
    ])();
  }

  private search(): string {
    const { random } = this;
    const terms = (): string =>
      [random.pick(WORDS), ...random.some([...WORDS, ...WORDS.map((word) => `-${word}`)], random.below(2))].join(' ');
    return random.weighted([
      [8, terms()],
      [2, `${terms()} or ${terms()}`],
      [1, random.pick(['', ' ', 'zzznowhere', '\0'])],
    ]);
  }

  /** A body that is valid three times of four; undefined for an endpoint that takes none. */
  private payload(endpoint: EndpointName, tenant: Tenant): Payload | undefined {
    const valid = this.validBody(endpoint, tenant);
    if (!valid) return undefined;
    const body = this.random.chance(0.25) ? this.spoilt(valid) : valid;
    const strange = [{ text: this.random.pick(NO_OBJECTS) }, { otherType: body }];
    return this.random.chance(0.02) ? this.random.pick(strange) : { json: body };
  }

  private spoilt(body: Fields): Fields {
    const names = this.random.some([...Object.keys(body), 'unknownField', 'id'], this.random.between(1, 2));
    const spoilt = { ...body };
    for (const name of names) spoilt[name] = this.random.pick(ODD);
    return Object.fromEntries(Object.entries(spoilt).filter(([, value]) => value !== undefined));
  }

  private validBody(endpoint: EndpointName, tenant: Tenant): Fields | undefined {
    const { random } = this;
    const text = (): string | null => random.pick([...TEXTS, null]);
    const filled = (): string => random.pick(FILLED);
    const words = (): string => random.some(WORDS, random.between(1, 3)).join(' ');
    const flag = (): boolean => random.chance(0.5);
    const email = (): string => random.pick(EMAILS);
    /** Some of many optional fields. */
    const some = (fields: Record<string, () => unknown>): Fields =>
      Object.fromEntries(random.some(Object.entries(fields), random.below(5)).map(([name, make]) => [name, make()]));
    const flags = (): Fields => some({ registered: flag, checkedIn: flag });
    const phones = (): Fields[] =>
      Array.from({ length: random.chance(0.05) ? random.between(49, 51) : random.below(3) }, () => ({
        number: filled(),
        type: random.pick(PHONE_TYPES),
        preferred: flag(),
      }));
    const industryField = (name: string): unknown => {
      if (/^numberOf/.test(name)) return random.pick([0, 4000, 2_147_483_647, null]);
      if (/Industries$|Personas$|^keywords$/.test(name)) return random.pick([[words(), filled()], [], null]);
      if (name === 'eventUrl') return random.pick([this.eventUrl(), this.eventUrl(), null]);
      if (name === 'startDate') return random.pick(MOMENTS);
      return name === 'endDate' ? random.pick(LAST_MOMENTS) : random.pick([words(), text()]);
    };
    const industryEvent = (): Fields => {
      const [, ...optional] = INDUSTRY_EVENT_FIELDS;
      const ruled = random.some(['startDate', 'endDate', 'eventUrl'], random.below(4));
      const names = [...random.some(optional, random.below(6)), ...ruled];
      return Object.fromEntries(names.map((name) => [name, industryField(name)]));
    };
    const event = (): Fields => ({
      eventName: filled(),
      eventType: random.pick(EVENT_TYPES),
      startDate: random.pick(['2026-05-03', '2026-05-04']),
      endDate: random.pick(['2026-05-04', '2026-05-06']),
      ...some({ registrationEnabled: flag }),
    });
    const patchFields: Record<string, () => unknown> = {
      firstName: text,
      lastName: text,
      address: text,
      linkedin: text,
      facebook: text,
      twitter: text,
      profilePicture: text,
      description: text,
      jobTitle: text,
      phoneNumbers: phones,
      email: () => random.pick([...EMAILS, ...MATCHED_EMAILS, null]),
      remoteId: () => ({ id: random.pick([...FILLED, 'w-1', null]), integrationType: random.pick(INTEGRATION_TYPES) }),
    };
    const bodies: Partial<Record<EndpointName, () => Fields>> = {
      createEvent: () => ({ ...event(), createdByEmail: email() }),
      replaceEvent: event,
      createLead: () => ({
        createdByEmail: email(),
        firstName: filled(),
        lastName: filled(),
        companyName: filled(),
        ...some({ email, phoneNumbers: phones }),
      }),
      patchLead: () => some(patchFields),
      upsertLeads: () => this.batch(() => ({ ...bodies.createLead?.(), ...some(patchFields) })),
      // Most lists are right as a whole: one unknown lead refuses all.
      associateEventLeads: () => ({
        eventLeads: random.chance(0.75)
          ? random.some(tenant.leads.living().slice(0, 6), random.below(5)).map((leadId) => ({ leadId, ...flags() }))
          : Array.from({ length: random.below(4) }, () => this.spoilt({ leadId: this.id(tenant, 'lead'), ...flags() })),
      }),
      createIndustryEvent: () => ({ ...industryEvent(), name: random.pick([words(), filled()]) }),
      updateIndustryEvent: industryEvent,
    };
    return bodies[endpoint]?.();
  }

  /** @param made an entry that may create; most entries have less */
  private batch(made: () => Fields): Fields {
    const { random } = this;
    const matchBy = random.pick(['email', 'remoteId', 'none']);
    const count = random.between(1, 4);
    const values = random.chance(0.05)
      ? Array.from({ length: count }, () => random.pick(MATCHED_IDS.slice(0, 3)))
      : random.some<unknown>(matchBy === 'email' ? MATCHED_EMAILS : MATCHED_IDS, count);
    const leads = values.map((value) => {
      const entry = { ...made(), ...(matchBy !== 'none' && { [matchBy]: value }) };
      const kept = random.chance(0.2) ? random.some(Object.keys(entry), 3) : Object.keys(entry);
      const fields = Object.fromEntries([...kept, matchBy].map((name) => [name, (entry as Fields)[name]]));
      return random.chance(0.05) ? this.spoilt(fields) : fields;
    });
    return { matchBy, leads };
  }

  private eventUrl(): string {
    const strange = ['HTTPS://example.com/0', 'https://example.com/0/'];
    return this.random.chance(0.1) ? this.random.pick(strange) : `https://example.com/${this.random.below(41)}`;
  }
}
