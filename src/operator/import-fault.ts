import type { EntityManager } from 'typeorm';
import type { Referent, References } from './references';

/** A dataset that cannot be imported. The message is one line that names the place, and quotes nothing of the data. */
export class ImportFault extends Error {}

/** A checked record, and where it stands: `line 40: leads[12]`. */
export interface Placed<R> {
  place: string;
  record: R;
}

/** What the writers of one import share. */
export interface Scope {
  manager: EntityManager;
  organizationId: number;
  references: References;
  /** ids of the dataset's events, by ref */
  events: Record<string, number>;
  /** associations written so far: their place in an event's list */
  associations: number;
}

/**
 * The ids of what records refer to.
 * @param mentions what each record refers to, with the path of the mention below the record
 * @throws ImportFault naming the first mention that the organization does not have
 */
export async function resolve<R>(
  { references }: Scope,
  kind: Referent,
  batch: Placed<R>[],
  mentions: (record: R) => [path: string, key: string][],
): Promise<Map<string, string>> {
  const all = batch.map(({ place, record }) => ({ place, keys: mentions(record) }));
  const found = await references.find(
    kind,
    all.flatMap(({ keys }) => keys.map(([, key]) => key)),
  );
  for (const { place, keys } of all) {
    const unknown = keys.find(([, key]) => !found.has(key));
    if (unknown) throw new ImportFault(`${place}.${unknown[0]}: unknown ${kind}`);
  }
  return found;
}

/** @throws ImportFault naming the first record whose id another organization has */
export async function refuseForeign(
  { manager, organizationId }: Scope,
  table: string,
  ids: { place: string; id: string }[],
): Promise<void> {
  const foreign = await manager.query<{ id: string }[]>(
    `select id from ${table} where id = any($1::uuid[]) and organization_id <> $2`,
    [ids.map(({ id }) => id), organizationId],
  );
  if (foreign.length === 0) return;
  const taken = new Set(foreign.map(({ id }) => id));
  const first = ids.find(({ id }) => taken.has(id));
  throw new ImportFault(`${first?.place}: belongs to another organization`);
}
