import type { components } from '../../../clients/typescript/src/schema';
import type { Change, ChangesPage } from '../../support/replica';

/** What the model keeps: records as the contract shows them, and what it does not show. */

export type Fields = Record<string, unknown>;

type Schemas = components['schemas'];
export type EventLead = Schemas['EventLeadV0Response'];
export type Activity = Schemas['LeadActivityEventV0Response'];
export type Activation = Schemas['ActivationV0Response'];
export type TagGroup = Schemas['TagGroupV0Response'];
export type IndustryEvent = Schemas['IndustryEventV0Response'];

export interface EventRecord {
  shown: Fields & { id: number; createdAt: string; tagGroups: string[] };
  /** e-mails of the assigned users */
  users: string[];
}

export interface LeadRecord {
  /** without what belongs to other records: tags with their values, activity events */
  shown: Fields & { id: string; createdAt: string };
  /** stored, and not shown */
  profilePicture?: unknown;
  tags: string[];
  activations: { activationId: string; checkedIn: boolean; registered: boolean }[];
}

interface User extends Fields {
  /** undefined until an answer has shown it */
  id: number | undefined;
  createdAt: string;
  email: string;
}

/** A key, and what is known of its bucket. */
export interface Key {
  value: string;
  organization: number;
  /** the first one of its organization, which is not limited */
  isMain: boolean;
  maxTokens: number;
  refillRate: number;
  tokens: number;
}

/**
 * Records by their keys, in the order of their arrival. A record is replaced, never changed in place, so that a copy of the
 * tables is a snapshot.
 */
class Table<Key, Row> {
  private rows = new Map<Key, Row>();
  private deleted: Key[] = [];

  get(key: Key): Row | undefined {
    return this.rows.get(key);
  }

  has(key: Key): boolean {
    return this.rows.has(key);
  }

  list(): Row[] {
    return [...this.rows.values()];
  }

  /** The keys that are there, the newest first. */
  living(): Key[] {
    return [...this.rows.keys()].reverse();
  }

  /** The keys that were deleted, the last one first. */
  gone(): Key[] {
    return this.deleted.toReversed();
  }

  set(key: Key, row: Row): void {
    this.rows.set(key, row);
  }

  delete(key: Key): void {
    if (this.rows.delete(key)) this.deleted.push(key);
  }

  /** @returns what restores the present rows */
  snapshot(): () => void {
    const [rows, deleted] = [new Map(this.rows), [...this.deleted]];
    return () => {
      [this.rows, this.deleted] = [new Map(rows), [...deleted]];
    };
  }
}

/** A change as the feed tells it, but for what happened and when. */
export type Shown = Omit<Change, 'operation' | 'at'>;

/** A client of the feed, as it is with one of its cursors. */
export interface Follower {
  resources: string[];
  phase: ChangesPage['phase'];
  hasMore: boolean;
  /** the records as pages told them */
  copy: Map<string, unknown>;
  /** what there was when the follower last knew all, or began to read: it is told only what is not the same */
  known: Map<string, Shown>;
}

/** Everything of one organization. */
export class Tenant {
  readonly events = new Table<number, EventRecord>();
  readonly leads = new Table<string, LeadRecord>();
  /** by event and lead, joined by a slash */
  readonly associations = new Table<string, { event: number; shown: EventLead }>();
  readonly activities = new Table<string, Activity>();
  readonly activations = new Table<string, Activation>();
  readonly tagGroups = new Table<string, TagGroup>();
  readonly users = new Table<string, User>();
  readonly bookmarks = new Table<string, string>();
  /** by cursors */
  readonly followers = new Table<string, Follower>();
  /** by names, those that are gone as well: a row is replaced whenever what its record shows changes */
  readonly history = new Table<string, Shown>();

  constructor(readonly id: number) {}

  tagOption(id: string): TagGroup['tagOptions'][number] | undefined {
    const options = this.tagGroups.list().flatMap(({ tagOptions }) => tagOptions);
    return options.find((option) => option.id === id);
  }

  activitiesOf(lead: string): Activity[] {
    return this.activities.list().filter(({ associatedLead }) => associatedLead === lead);
  }

  /** A lead as the contract shows it, with what belongs to other records. */
  shownLead({ shown, tags, activations }: LeadRecord): LeadRecord['shown'] {
    return {
      ...shown,
      activations,
      tags: tags.map((id) => ({ tagOptionId: id, value: this.tagOption(id)?.value })),
      leadActivityEvents: this.activitiesOf(shown.id).map(({ id }) => id),
    };
  }

  /** A new lead comes last in the list of an event; one that is there keeps its place. */
  associate(event: number, shown: EventLead): void {
    this.associations.set(`${event}/${shown.leadId}`, { event, shown });
  }

  associationsOf(event: number): { event: number; shown: EventLead }[] {
    return this.associations.list().filter((each) => each.event === event);
  }
}

/** The whole installation. */
export class State {
  readonly tenants = new Table<number, Tenant>();
  readonly keys = new Table<string, Key>();
  readonly catalogue = new Table<string, IndustryEvent>();
  /** ids of all events and leads that ever were */
  readonly eventIds = new Set<number>();
  readonly leadIds = new Set<string>();

  tenant(id: number): Tenant {
    const tenant = this.tenants.get(id);
    if (!tenant) throw new Error(`no organization ${id}`);
    return tenant;
  }

  /** The key of an organization that is not limited. */
  mainKey(organization: number): string {
    return this.keys.list().find((key) => key.isMain && key.organization === organization)?.value ?? '';
  }

  /** @returns what restores the present state */
  snapshot(): () => void {
    const tables = [this.tenants, this.keys, this.catalogue, ...this.tenants.list().flatMap(tablesOf)];
    const restores = tables.map((table) => table.snapshot());
    const [events, leads] = [[...this.eventIds], [...this.leadIds]];
    return () => {
      for (const restore of restores) restore();
      this.eventIds.clear();
      this.leadIds.clear();
      for (const id of events) this.eventIds.add(id);
      for (const id of leads) this.leadIds.add(id);
    };
  }
}

const tablesOf = (tenant: Tenant) => Object.values(tenant).filter((each) => each instanceof Table);
