import type { Random } from '../prove/support/random';
import { type Call, type EndpointName, ENDPOINTS, type Payload } from './endpoints';
import { KNOWN } from './model';
import type { Fields, State, Tenant } from './records';
import { INDUSTRY_EVENT_FIELDS, INTEGRATION_TYPES, PHONE_TYPES } from './rules';

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

const MALFORMED_IDS = [
  'abc',
  '1',
  '00000000-0000-4000-8000-00000000000',
  '{00000000-0000-4000-8000-000000000000}',
  '\0',
  "'",
];
const WRONG_KEYS = [[], [''], [' '], ['lan_unknown'], [`lan_${'0'.repeat(49)}`], ['a', 'b']];
const WRONG_NUMBERS = ['', '-1', '1.5', 'x', ' 5', '1e1', '0x10', '+1', '٣', '9'.repeat(30), '2147483648'];
const NO_OBJECTS = ['', '{', '[]', 'null', '"text"', '5', '{"a":1}}', '[{}]'];

/** How often each endpoint is asked (else 3); deletions are fewer than creations, so that lists grow. */
const OFTEN: Partial<Record<EndpointName, number>> = {
  createLead: 10,
  patchLead: 10,
  upsertLeads: 10,
  listLeads: 8,
  deleteLead: 4,
  createIndustryEvent: 6,
  updateIndustryEvent: 6,
  listIndustryEvents: 8,
  bookmarkIndustryEvent: 4,
};
const NAMES = (Object.keys(ENDPOINTS) as EndpointName[]).filter((name) => KNOWN.includes(name));
const WEIGHTS = NAMES.map((name) => [OFTEN[name] ?? 3, name] as const);

/** Endpoints whose requests meet when they are asked at once. */
const CLASHES: EndpointName[][] = [
  ['patchLead', 'deleteLead', 'getLead', 'listLeads', 'createLead'],
  ['upsertLeads', 'patchLead', 'deleteLead', 'listLeads', 'createLead'],
  [
    'createIndustryEvent',
    'updateIndustryEvent',
    'listIndustryEvents',
    'bookmarkIndustryEvent',
    'listBookmarkedIndustryEvents',
  ],
  ['createLead'],
  ['upsertLeads'],
  ['upsertLeads'],
  ['createIndustryEvent'],
];

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

  /** The first organization sees most of what happens. */
  private tenant(): Tenant {
    return this.random.pick(this.state.tenants.list().flatMap((tenant, n) => (n === 0 ? [tenant, tenant] : [tenant])));
  }

  private call(endpoint: EndpointName): Call {
    const tenant = this.tenant();
    const keys = this.random.chance(0.02) ? this.random.pick(WRONG_KEYS) : [tenant.key];
    return {
      endpoint,
      keys,
      ids: ENDPOINTS[endpoint].ids.map((kind) => this.id(tenant, kind)),
      query: this.query(endpoint),
      payload: this.payload(endpoint),
    };
  }

  /** Mostly one of the newest few, so that requests meet. */
  private recent<T>(items: readonly T[]): T | undefined {
    return items[this.random.below(this.random.chance(0.8) ? Math.min(items.length, 4) : items.length)];
  }

  private id(tenant: Tenant, kind: string): string {
    const others = this.state.tenants.list().filter((each) => each !== tenant);
    const tableOf = ({ leads }: Tenant) => (kind === 'lead' ? leads : this.state.catalogue);
    const id = this.random.weighted([
      [80, () => this.recent(tableOf(tenant).living())],
      [3, () => this.recent(tableOf(tenant).living())?.toUpperCase()],
      [2, () => undefined],
      [2, () => this.random.pick(MALFORMED_IDS)],
      [3, () => this.recent(tableOf(tenant).gone())],
      [5, () => this.recent(tableOf(this.random.pick(others)).living())],
    ])();
    return id ?? this.random.uuid();
  }

  private query(endpoint: EndpointName): Call['query'] {
    if (!endpoint.startsWith('list') || endpoint === 'listBookmarkedIndustryEvents') return [];
    const { random } = this;
    const number = (): string => (random.chance(0.8) ? String(random.below(61)) : random.pick(WRONG_NUMBERS));
    const query = random.weighted<() => Call['query']>([
      [3, () => []],
      [4, () => Object.entries({ limit: String(random.between(1, 13)), offset: String(random.below(5)) })],
      [2, () => [[random.pick(['limit', 'offset', 'other']), number()]]],
      [1, () => ['limit', 'limit'].map((name): Call['query'][number] => [name, number()])],
    ])();
    if (endpoint === 'listLeads') {
      if (random.chance(0.4)) query.push(['email', random.pick([...EMAILS, ...MATCHED_EMAILS, '', ' ', '\0', 'x'])]);
      const { id, integrationType } = random.pick(MATCHED_IDS);
      if (random.chance(0.4)) query.push(['remoteId', id], ['integrationType', integrationType]);
      if (random.chance(0.1)) query.push([random.pick(['remoteId', 'integrationType']), random.pick([id, 'zoho'])]);
    }
    if (endpoint === 'listIndustryEvents') {
      if (random.chance(0.6)) query.push(['q', this.search()]);
      if (random.chance(0.3)) query.push(['eventUrl', this.eventUrl()]);
    }
    return query;
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
  private payload(endpoint: EndpointName): Payload | undefined {
    const valid = this.validBody(endpoint);
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

  private words(): string {
    return this.random.some(WORDS, this.random.between(1, 3)).join(' ');
  }

  private industryField(name: string): unknown {
    const { random } = this;
    if (/^numberOf/.test(name)) return random.pick([0, 4000, 2_147_483_647, null]);
    if (/Industries$|Personas$|^keywords$/.test(name)) {
      return random.pick([[this.words(), random.pick(FILLED)], [], null]);
    }
    if (name === 'eventUrl') return random.pick([this.eventUrl(), this.eventUrl(), null]);
    if (name === 'startDate') return random.pick(MOMENTS);
    return name === 'endDate' ? random.pick(LAST_MOMENTS) : random.pick([this.words(), random.pick([...TEXTS, null])]);
  }

  private industryEvent(): Fields {
    const { random } = this;
    const [, ...optional] = INDUSTRY_EVENT_FIELDS;
    const ruled = random.some(['startDate', 'endDate', 'eventUrl'], random.below(4));
    const names = [...random.some(optional, random.below(6)), ...ruled];
    return Object.fromEntries(names.map((name) => [name, this.industryField(name)]));
  }

  private validBody(endpoint: EndpointName): Fields | undefined {
    const { random } = this;
    const text = (): string | null => random.pick([...TEXTS, null]);
    const filled = (): string => random.pick(FILLED);
    const flag = (): boolean => random.chance(0.5);
    const email = (): string => random.pick(EMAILS);
    /** Some of many optional fields. */
    const some = (fields: Record<string, () => unknown>): Fields =>
      Object.fromEntries(random.some(Object.entries(fields), random.below(5)).map(([name, make]) => [name, make()]));
    const phones = (): Fields[] =>
      Array.from({ length: random.chance(0.05) ? random.between(49, 51) : random.below(3) }, () => ({
        number: filled(),
        type: random.pick(PHONE_TYPES),
        preferred: flag(),
      }));
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
      createLead: () => ({
        createdByEmail: email(),
        firstName: filled(),
        lastName: filled(),
        companyName: filled(),
        ...some({ email, phoneNumbers: phones }),
      }),
      patchLead: () => some(patchFields),
      upsertLeads: () => this.batch(() => ({ ...bodies.createLead?.(), ...some(patchFields) })),
      createIndustryEvent: () => ({ ...this.industryEvent(), name: random.pick([this.words(), filled()]) }),
      updateIndustryEvent: () => this.industryEvent(),
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
