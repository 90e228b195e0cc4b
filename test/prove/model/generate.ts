import type { Random } from '../support/random';
import { type Call, type EndpointName, ENDPOINTS, type Payload } from './endpoints';
import { RESOURCES } from './changes';
import { FieldValues } from './field-values';
import { KNOWN } from './model';
import type { Fields, State, Tenant } from './records';
import { ACTIVITY_TYPES } from './rules';
import {
  EMAILS,
  MATCHED_EMAILS,
  MATCHED_IDS,
  WORDS,
  ODD,
  MALFORMED_IDS,
  WRONG_KEYS,
  WRONG_NUMBERS,
  WRONG_PLACES,
  NO_OBJECTS,
} from './values';

/** Random requests: mostly ones that make sense together, some at their edges, some wrong. */

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
  private readonly values: FieldValues;

  constructor(
    private readonly random: Random,
    private readonly state: State,
  ) {
    this.values = new FieldValues(random);
  }

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
      if (random.chance(0.3)) query.push(['eventUrl', this.values.eventUrl()]);
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
    const { random, values } = this;
    const { email, filled, phones } = values;
    const bodies: Partial<Record<EndpointName, () => Fields>> = {
      createEvent: () => ({ ...values.event(), createdByEmail: email() }),
      replaceEvent: () => values.event(),
      createLead: () => ({
        createdByEmail: email(),
        firstName: filled(),
        lastName: filled(),
        companyName: filled(),
        ...values.some({ email, phoneNumbers: phones }),
      }),
      patchLead: () => values.patch(),
      upsertLeads: () => this.batch(() => ({ ...bodies.createLead?.(), ...values.patch() })),
      // Most lists are right as a whole: one unknown lead refuses all.
      associateEventLeads: () => ({
        eventLeads: random.chance(0.75)
          ? random
              .some(tenant.leads.living().slice(0, 6), random.below(5))
              .map((leadId) => ({ leadId, ...values.flags() }))
          : Array.from({ length: random.below(4) }, () =>
              this.spoilt({ leadId: this.id(tenant, 'lead'), ...values.flags() }),
            ),
      }),
      createIndustryEvent: () => ({ ...values.industryEvent(), name: random.pick([values.words(), filled()]) }),
      updateIndustryEvent: () => values.industryEvent(),
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
}
