import type { EntityManager } from 'typeorm';
import { causeOf } from '../../database/errors';
import { ImportFault } from './import-fault';
import type { EventUrls } from './import.event-urls';
import type { Referent, References } from './references';
import type { Parted } from './upsert';

/**
 * Does the checks of a batch, one after the other.
 * @returns what each of them found
 * @throws ImportFault of the record that stands first, whichever check finds it
 */
export async function checked<Found extends unknown[]>(
  ...checks: { [K in keyof Found]: () => Promise<Found[K]> }
): Promise<Found> {
  const found: unknown[] = [];
  let first: ImportFault | undefined;
  for (const check of checks) {
    try {
      found.push(await check());
    } catch (error) {
      if (!(error instanceof ImportFault)) throw error;
      if (!first || error.position < first.position) first = error;
    }
  }
  if (first) throw first;
  return found as Found;
}

/** A checked record, and where it stands: `line 40: leads[12]`. */
export interface Placed<R> {
  place: string;
  /** in its section */
  position: number;
  record: R;
}

/**
 * Each record of a batch once: at its first place, as it stands last. A moment that is left out then stays, as it does when
 * the first one is stored already.
 */
export function latest<R extends { createdAt?: string | null }>(
  batch: Placed<R>[],
  key: (record: R) => unknown,
): Placed<R>[] {
  const all = new Map<unknown, Placed<R>>();
  for (const placed of batch) {
    const first = all.get(key(placed.record));
    const createdAt = placed.record.createdAt ?? first?.record.createdAt;
    all.set(key(placed.record), first ? { ...first, record: { ...placed.record, createdAt } } : placed);
  }
  return all.size === batch.length ? batch : [...all.values()];
}

/** What the writers of one import share. */
export interface Scope {
  manager: EntityManager;
  organizationId: number;
  references: References;
  /** ids of the dataset's events, by ref */
  events: Record<string, number>;
  eventUrls: EventUrls;
  /** associations read so far: their place in the dataset */
  associations: number;
}

/** That a record refers to something: where, as a path below the record, and to what. */
export type Mention = [path: string, key: string];

/**
 * The ids of what records refer to, by kind.
 * @throws ImportFault naming the first record that mentions what the organization does not have
 */
export async function resolve<R, Kind extends Referent>(
  { references }: Scope,
  batch: Placed<R>[],
  mentions: Record<Kind, (record: R) => Mention[]>,
): Promise<Record<Kind, Map<string, string>>> {
  const kinds = Object.keys(mentions) as Kind[];
  const all = kinds.map((kind) => batch.map(({ record }) => mentions[kind](record)));
  const found = {} as Record<Kind, Map<string, string>>;
  for (const [index, kind] of kinds.entries()) {
    found[kind] = await references.find(kind, all[index]?.flatMap((keys) => keys.map(([, key]) => key)) ?? []);
  }
  for (const [nth, { place, position }] of batch.entries()) {
    for (const [index, kind] of kinds.entries()) {
      const unknown = all[index]?.[nth]?.find(([, key]) => !found[kind].has(key));
      if (unknown) throw new ImportFault(`${place}.${unknown[0]}: unknown ${kind}`, position);
    }
  }
  return found;
}

/** @throws ImportFault naming the first record whose id another organization has */
export async function refuseForeign(scope: Scope, table: string, ids: Identified[]): Promise<void> {
  await storedIds(scope, table, ids);
}

/**
 * A batch, parted by whether the organization has the records already.
 * @throws ImportFault naming the first record whose id another organization has
 */
export async function part<R extends { id: string }>(
  scope: Scope,
  table: string,
  batch: Placed<R>[],
): Promise<Parted<R>> {
  const stored = await storedIds(scope, table, batch.map(identified));
  const records = batch.map(({ record }) => record);
  if (stored.size === 0) return { fresh: records, known: [] };
  return { fresh: records.filter(({ id }) => !stored.has(id)), known: records.filter(({ id }) => stored.has(id)) };
}

interface Identified {
  place: string;
  /** of the record */
  position: number;
  id: string;
}

/** The id of a record. */
export const identified = <R extends { id: string }>({ place, position, record }: Placed<R>): Identified => ({
  place: `${place}.id`,
  position,
  id: record.id,
});

async function storedIds({ manager, organizationId }: Scope, table: string, ids: Identified[]): Promise<Set<string>> {
  const stored = await manager.query<{ id: string; own: boolean }[]>(
    `select id, organization_id = $2 as own from ${table} where id = any($1::uuid[])`,
    [ids.map(({ id }) => id), organizationId],
  );
  const foreign = new Set(stored.filter(({ own }) => !own).map(({ id }) => id));
  const first = ids.find(({ id }) => foreign.has(id));
  if (first) throw new ImportFault(`${first.place}: belongs to another organization`, first.position);
  return new Set(stored.map(({ id }) => id));
}

interface WithIds {
  id?: string;
  tagOptions?: { id: string }[];
}

/**
 * Imports of two organizations do not take turns: an id that nobody had when it was looked for may be the other's when
 * it is written. PostgreSQL waits for the other one then, and refuses the id by the primary key.
 * @returns the fault, with its place in the batch; any other error as it is
 */
export function clash(error: unknown, batch: Placed<WithIds>[]): unknown {
  const { code, detail } = causeOf(error);
  const [, taken] = (code === '23505' && /\(id\)=\((.+?)\)/.exec(String(detail))) || [];
  if (taken === undefined) return error;
  for (const { place, record } of batch) {
    const option = record.tagOptions?.findIndex(({ id }) => id === taken) ?? -1;
    const path = option < 0 ? 'id' : `tagOptions[${option}].id`;
    if (option >= 0 || record.id === taken) return new ImportFault(`${place}.${path}: belongs to another organization`);
  }
  return error;
}
