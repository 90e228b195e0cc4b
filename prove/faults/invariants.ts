import { ask } from '../support/ask';
import { until } from '../support/daemon';
import type { Cluster, Tenant } from './cluster';
import type { Creation, Load } from './load';

/** What a fault did to the data: each entry is one thing that must not be. */
export interface Damage {
  /** acknowledged, but absent, different, or deleted and still there */
  lost: string[];
  /** there more than once */
  duplicates: string[];
  /** PUTs and PATCHes of which a part was done */
  halves: string[];
  /** refused and there all the same; wrong totals; what `operator check` finds */
  others: string[];
}

interface Item {
  id: string;
  email?: string;
  eventUrl?: string;
}

/** The records of a list by their markers. */
type Found = Map<string, Item[]>;

const PAGE = 50;

/** Reads back everything that the load wrote. The services run by now. */
export async function check(cluster: Cluster, load: Load): Promise<Damage> {
  const damage: Damage = { lost: [], duplicates: [], halves: [], others: [] };
  const { word } = load.canaries;
  // A statement whose client went away may still be running.
  const busy = `select 1 from pg_stat_activity where application_name = 'lanyard' and state <> 'idle'`;
  await until('nothing runs', async () => (await cluster.postgres.query(busy)).length === 0);
  const leads = new Map<Tenant, Found>();
  for (const tenant of load.tenants) leads.set(tenant, await walk(cluster, tenant, 'leads', word, damage));
  const catalogue = await walk(cluster, load.tenants[0] as Tenant, 'industryEvents', word, damage);
  for (const creation of load.creations) {
    judge(creation, creation.kind === 'lead' ? leads.get(creation.tenant) : catalogue, damage);
  }
  for (const register of load.registers) {
    const answer = await ask(cluster.apis[0]?.port ?? 0, { ...register.read, key: register.tenant.key });
    const fault = register.fault(answer);
    if (fault) damage[fault.kind === 'half' ? 'halves' : 'lost'].push(fault.text);
  }
  if (!(await cluster.check())) damage.others.push('operator check finds derived data that is wrong');
  return damage;
}

/** Reads a whole list, in which each record must stand once, and which must tell its length. */
async function walk(
  { apis, postgres }: Cluster,
  { key, organizationId }: Tenant,
  resource: 'leads' | 'industryEvents',
  word: string,
  damage: Damage,
): Promise<Found> {
  const found: Found = new Map();
  const ids = new Set<string>();
  let total = Infinity;
  for (let offset = 0; offset * PAGE < total; offset++) {
    const port = apis[offset % apis.length]?.port ?? 0;
    const path = `/api/v0/${resource}?limit=${PAGE}&offset=${offset}`;
    const { status, body } = await ask(port, { method: 'GET', path, key });
    if (status !== 200) throw new Error(`reading back ${resource}: ${status}`);
    const results = body?.results as { total: number } & Record<typeof resource, Item[]>;
    total = results.total;
    for (const item of results[resource]) {
      if (ids.has(item.id)) damage.duplicates.push(`${item.id} twice in the list of ${resource}`);
      ids.add(item.id);
      const marker = new RegExp(`${word}\\d+`).exec(item.email ?? item.eventUrl ?? '')?.[0];
      if (marker) found.set(marker, [...(found.get(marker) ?? []), item]);
    }
  }
  const table = resource === 'leads' ? `leads where organization_id = ${organizationId}` : 'industry_events';
  const [row] = await postgres.query<{ count: number }>(`select count(*)::integer as count from ${table}`);
  if (total !== ids.size || total !== row?.count) {
    damage.others.push(`${resource}: total ${total}, ${ids.size} in the pages, ${row?.count} rows`);
  }
  return found;
}

function judge({ kind, marker, outcome, stored, deleted }: Creation, found: Found | undefined, damage: Damage): void {
  const [first, ...more] = found?.get(marker) ?? [];
  const name = `${kind} ${marker}`;
  if (more.length > 0) damage.duplicates.push(`${name}: ${more.length + 1} times`);
  if (outcome === 'refused' && first) damage.others.push(`${name}: refused, but there`);
  if (outcome !== 'acknowledged') return;
  if (deleted === 'acknowledged') {
    if (first) damage.lost.push(`${name}: deleted, but there`);
  } else if (!first) {
    if (deleted !== 'unknown') damage.lost.push(name);
  } else if (JSON.stringify(first) !== JSON.stringify(stored)) {
    damage.lost.push(`${name}: other content`);
  }
}
