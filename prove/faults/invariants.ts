import type { Cluster, Tenant } from './cluster';
import { until } from './daemon';
import { ask } from './http';
import type { Creation, Load } from './load';

/** What a fault did to the data: each entry is one thing that must not be. */
export interface Damage {
  /** acknowledged, and not there, or there with other content, or deleted and still there */
  lost: string[];
  /** there more than once */
  duplicates: string[];
  /** PUTs and PATCHes of which a part was done */
  halves: string[];
  /** refused, and there all the same; totals that are not the number of records; what `operator check` finds */
  others: string[];
}

/** What was looked at, one by one. */
export interface Checked {
  /** that were acknowledged */
  writes: number;
  damage: Damage;
}

/** Reads back everything that the load wrote. The services run by now. */
export async function check(cluster: Cluster, load: Load): Promise<Checked> {
  const damage: Damage = { lost: [], duplicates: [], halves: [], others: [] };
  await settled(cluster);
  const read = new Map<Tenant, Found>();
  for (const tenant of load.tenants) read.set(tenant, await leadsOf(cluster, tenant, load.canaries.word, damage));
  const catalogue = await industryEvents(cluster, load, damage);
  for (const creation of load.creations) {
    judge(creation, creation.kind === 'lead' ? read.get(creation.tenant) : catalogue, damage);
  }
  await overwritten(cluster, load, damage);
  await totals(cluster, load, damage);
  if (!(await cluster.check())) damage.others.push('operator check finds that what is stored is wrong');
  const overwrites = load.registers.reduce((sum, register) => sum + register.acknowledged, 0);
  return { writes: load.acknowledged + overwrites, damage };
}

/** A statement whose client has gone away may still be under way. */
async function settled({ postgres }: Cluster): Promise<void> {
  const busy = `select 1 from pg_stat_activity where application_name = 'lanyard' and state <> 'idle'`;
  await until('nothing is under way', async () => (await postgres.query(busy)).length === 0);
}

type Found = Map<string, { id: string }[]>;

/** All records of a list, by their markers, and whether the list has each once and says so. */
async function walk(
  cluster: Cluster,
  { key }: Tenant,
  resource: 'leads' | 'industryEvents',
  word: string,
  damage: Damage,
): Promise<Found> {
  const found: Found = new Map();
  const ids = new Set<string>();
  const marker = new RegExp(`${word}\\d+`);
  for (let offset = 0, total = Infinity; offset * 50 < total; offset++) {
    const port = cluster.apis[offset % cluster.apis.length]?.port ?? 0;
    const { status, body } = await ask(port, {
      method: 'GET',
      path: `/api/v0/${resource}?limit=50&offset=${offset}`,
      key,
    });
    if (status !== 200) throw new Error(`reading back ${resource}: ${status}`);
    const results = body?.results as { total: number } & Record<typeof resource, Item[]>;
    total = results.total;
    for (const item of results[resource]) {
      if (ids.has(item.id)) damage.duplicates.push(`${item.id} twice in the list of ${resource}`);
      ids.add(item.id);
      const mark = marker.exec(item.email ?? item.eventUrl ?? '')?.[0];
      if (mark) found.set(mark, [...(found.get(mark) ?? []), item]);
    }
    if (offset * 50 + 50 >= total && ids.size !== total) {
      damage.others.push(`${resource}: total ${total}, but ${ids.size} in the pages`);
    }
  }
  return found;
}

interface Item {
  id: string;
  email?: string;
  eventUrl?: string;
}

const leadsOf = (cluster: Cluster, tenant: Tenant, word: string, damage: Damage): Promise<Found> =>
  walk(cluster, tenant, 'leads', word, damage);

const industryEvents = (cluster: Cluster, load: Load, damage: Damage): Promise<Found> =>
  walk(cluster, load.tenants[0] as Tenant, 'industryEvents', load.canaries.word, damage);

function judge(creation: Creation, found: Found | undefined, damage: Damage): void {
  const { kind, marker, outcome, stored, deleted } = creation;
  const there = found?.get(marker) ?? [];
  if (there.length > 1) damage.duplicates.push(`${kind} ${marker}: ${there.length} times`);
  if (outcome === 'refused' && there.length > 0) damage.others.push(`${kind} ${marker}: refused, but there`);
  if (outcome !== 'acknowledged') return;
  if (deleted === 'acknowledged' && there.length > 0) damage.lost.push(`${kind} ${marker}: deleted, but there`);
  if (deleted === 'acknowledged' || (deleted === 'unknown' && there.length === 0)) return;
  if (there.length === 0) damage.lost.push(`${kind} ${marker}`);
  else if (JSON.stringify(there[0]) !== JSON.stringify(stored)) damage.lost.push(`${kind} ${marker}: other content`);
}

async function overwritten(cluster: Cluster, { registers }: Load, damage: Damage): Promise<void> {
  const port = cluster.apis[0]?.port ?? 0;
  for (const register of registers) {
    const fault = register.fault(await ask(port, { ...register.get(), key: register.tenant.key }));
    if (fault) damage[fault.kind === 'half' ? 'halves' : 'lost'].push(fault.text);
  }
}

/** The totals that clients are told are kept by triggers; here they are counted. */
async function totals({ postgres, apis }: Cluster, { tenants }: Load, damage: Damage): Promise<void> {
  for (const { organizationId, key } of tenants) {
    const statement = `select count(*)::integer as count from leads where organization_id = ${organizationId}`;
    const [row] = await postgres.query<{ count: number }>(statement);
    const { body } = await ask(apis[0]?.port ?? 0, { method: 'GET', path: '/api/v0/leads?limit=1', key });
    const { total } = body?.results as { total: number };
    if (total !== row?.count) damage.others.push(`leads: total ${total}, but ${row?.count} rows`);
  }
}
