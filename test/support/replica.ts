import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from './client';

export interface Change {
  resource: string;
  id?: string | number;
  eventId?: number;
  leadId?: string;
  operation: 'snapshot' | 'created' | 'updated' | 'deleted';
  at: string;
  record: Record<string, unknown> | null;
  remoteIds?: object[];
}

export interface ChangesPage {
  phase: 'snapshot' | 'changes';
  changes: Change[];
  cursor: string;
  hasMore: boolean;
}

type Query = Record<string, string | number>;

const LISTS = ['tagGroups', 'events', 'activations', 'leads', 'leadActivityEvents'];

/** A cursor that was made by another database. */
export function foreignCursor(): string {
  const sealed = randomBytes(100);
  const check = createHash('sha256').update(sealed).update('cursor 2').digest().subarray(0, 4);
  return Buffer.concat([check, sealed]).toString('base64url');
}

/** The name of a record in a copy. */
export const nameOf = ({ resource, id, eventId, leadId }: Change): string =>
  `${resource} ${id ?? `${eventId} ${leadId}`}`;

/** A client's copy of an organization's records, which follows the feed of changes as docs/changes.md tells clients to. */
export class Replica {
  cursor?: string;
  readonly records = new Map<string, unknown>();
  /** Every change that was received, in order. */
  readonly changes: Change[] = [];
  pages = 0;

  constructor(
    private readonly api: ApiClient,
    private readonly query: Query = {},
  ) {}

  async page(query: Query = {}): Promise<ChangesPage> {
    const { resources, ...rest } = this.query;
    const place: Query = this.cursor !== undefined ? { cursor: this.cursor } : resources ? { resources } : {};
    const { body } = await this.api.get('/changes', { ...rest, ...place, ...query }).expect(200);
    return body.results as ChangesPage;
  }

  /** Reads pages until nothing is left. @returns their changes */
  async follow(): Promise<Change[]> {
    const before = this.changes.length;
    for (let hasMore = true; hasMore; this.pages++) {
      const page = await this.page();
      for (const change of page.changes) this.apply(change);
      ({ cursor: this.cursor, hasMore } = page);
    }
    return this.changes.slice(before);
  }

  apply(change: Change): void {
    this.changes.push(change);
    if (change.record === null) this.records.delete(nameOf(change));
    else this.records.set(nameOf(change), change.record);
  }

  /** Records in which the copy differs from the lists, by their names. */
  async differences(): Promise<string[]> {
    return this.differencesFrom(await listRecords(this.api, this.resources));
  }

  /** @param listed all records, also of resources that the copy does not follow */
  differencesFrom(listed: Map<string, unknown>): string[] {
    const { resources } = this;
    const isFollowed = (name: string): boolean =>
      resources.length === 0 || resources.includes(name.split(' ', 1)[0] ?? '');
    const names = new Set([...[...listed.keys()].filter(isFollowed), ...this.records.keys()]);
    return [...names].filter((name) => !isDeepStrictEqual(listed.get(name), this.records.get(name)));
  }

  private get resources(): string[] {
    return String(this.query.resources ?? '')
      .split(',')
      .filter(Boolean);
  }
}

/** All records as the lists show them. @param only some resources */
export async function listRecords(api: ApiClient, only: string[] = []): Promise<Map<string, unknown>> {
  const listed = new Map<string, unknown>();
  const isAsked = (resource: string): boolean => only.length === 0 || only.includes(resource);
  for (const resource of LISTS.filter(isAsked)) {
    const records = await api.all<{ id: string | number }>(`/${resource}`, resource);
    for (const record of records) listed.set(`${resource} ${record.id}`, record);
  }
  if (!isAsked('eventLeads')) return listed;
  for (const { id } of await api.all<{ id: number }>('/events', 'events')) {
    const entries = await api.all<{ leadId: string }>(`/events/${id}/leads`, 'eventLeads');
    for (const entry of entries) listed.set(`eventLeads ${id} ${entry.leadId}`, entry);
  }
  return listed;
}
