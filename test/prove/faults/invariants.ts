import { ApiClient } from '../../support/client';
import { ask } from '../support/ask';
import { until } from '../support/daemon';
import type { Cluster, Database, Tenant } from './cluster';
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

interface Lead {
  id: string;
  email: string | null;
}

/** Leads by their markers. */
type Found = Map<string, Lead[]>;

/** Reads back everything that the load wrote. The services run by now. */
export async function check(cluster: Cluster<Database>, load: Load): Promise<Damage> {
  const damage: Damage = { lost: [], duplicates: [], halves: [], others: [] };
  const { word } = load.canaries;
  // A statement whose client went away may still be running.
  const busy = `select 1 from pg_stat_activity where application_name = 'lanyard' and state <> 'idle'`;
  await until('nothing runs', async () => (await cluster.postgres.query(busy)).length === 0);
  const leads = new Map<Tenant, Found>();
  for (const tenant of load.tenants) leads.set(tenant, await walk(cluster, tenant, word, damage));
  for (const creation of load.creations) judge(creation, leads.get(creation.tenant), damage);
  for (const register of load.registers) {
    const answer = await ask(cluster.apis[0]?.port ?? 0, { ...register.place.read, key: register.tenant.key });
    const fault = register.fault(answer);
    if (fault) damage[fault.kind === 'half' ? 'halves' : 'lost'].push(fault.text);
  }
  if (!(await cluster.check())) damage.others.push('operator check finds derived data that is wrong');
  return damage;
}

/** Reads a whole list, in which each lead must stand once, and which must tell its length. */
async function walk(
  { apis, postgres }: Cluster<Database>,
  { key, organizationId }: Tenant,
  word: string,
  damage: Damage,
): Promise<Found> {
  const api = new ApiClient(`http://127.0.0.1:${apis[0]?.port}/api/v0`, key);
  const leads = await api.all<Lead>('/leads', 'leads');
  const { total } = (await api.get('/leads').expect(200)).body.results as { total: number };
  const found: Found = new Map();
  const ids = new Set<string>();
  for (const lead of leads) {
    if (ids.has(lead.id)) damage.duplicates.push(`${lead.id} twice in the list`);
    ids.add(lead.id);
    const marker = new RegExp(`${word}\\d+`).exec(lead.email ?? '')?.[0];
    if (marker) found.set(marker, [...(found.get(marker) ?? []), lead]);
  }
  const statement = `select count(*)::integer as count from leads where organization_id = ${organizationId}`;
  const [row] = await postgres.query<{ count: number }>(statement);
  if (total !== ids.size || total !== row?.count) {
    damage.others.push(`total ${total}, ${ids.size} leads in the pages, ${row?.count} rows`);
  }
  return found;
}

function judge({ marker, outcome, stored, deleted }: Creation, found: Found | undefined, damage: Damage): void {
  const [first, ...more] = found?.get(marker) ?? [];
  if (more.length > 0) damage.duplicates.push(`${marker}: ${more.length + 1} times`);
  if (outcome === 'refused' && first) damage.others.push(`${marker}: refused, but there`);
  if (outcome !== 'acknowledged') return;
  if (deleted === 'acknowledged') {
    if (first) damage.lost.push(`${marker}: deleted, but there`);
  } else if (!first) {
    if (deleted !== 'unknown') damage.lost.push(marker);
  } else if (JSON.stringify(first) !== JSON.stringify(stored)) {
    damage.lost.push(`${marker}: other content`);
  }
}
