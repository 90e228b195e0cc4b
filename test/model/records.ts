import type { components } from '../../clients/typescript/src/schema';

/** What the model keeps: records as the contract shows them, and what it does not show. */

export type Fields = Record<string, unknown>;

type Schemas = components['schemas'];
export type IndustryEvent = Schemas['IndustryEventV0Response'];

export interface LeadRecord {
  shown: Fields & { id: string; createdAt: string };
  /** stored, and not shown */
  profilePicture?: unknown;
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

/** Everything of one organization. */
export class Tenant {
  readonly leads = new Table<string, LeadRecord>();
  readonly bookmarks = new Table<string, string>();

  /** @param key one without limits */
  constructor(
    readonly id: number,
    readonly key: string,
  ) {}
}

/** The whole installation. */
export class State {
  readonly tenants = new Table<number, Tenant>();
  readonly catalogue = new Table<string, IndustryEvent>();
  /** The ids of all leads that ever were. */
  readonly leadIds = new Set<string>();

  /** The organization that a key opens. */
  tenantOf(key: string | undefined): Tenant | undefined {
    return this.tenants.list().find((tenant) => tenant.key === key);
  }

  /** @returns what restores the present state */
  snapshot(): () => void {
    const tables = [this.tenants, this.catalogue, ...this.tenants.list().flatMap(tablesOf)];
    const restores = tables.map((table) => table.snapshot());
    const leads = [...this.leadIds];
    return () => {
      for (const restore of restores) restore();
      this.leadIds.clear();
      for (const id of leads) this.leadIds.add(id);
    };
  }
}

const tablesOf = (tenant: Tenant) => Object.values(tenant).filter((each) => each instanceof Table);
