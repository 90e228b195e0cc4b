import type { IdKind } from './endpoints';
import type { Table } from './journal';
import type { Model } from './model';
import type { Tenant } from './records';

/**
 * Operations say what they mean by its place among what there is at that moment (`the newest lead but one`), so that
 * they stay meaningful when operations before them are left out, and can be kept as JSON.
 */
export interface Reference {
  $: IdKind | 'tagOption' | 'eventRef' | 'user' | 'new' | 'long';
  n: number;
  of?: 'own' | 'associated' | 'upper' | 'gone' | 'foreign' | 'unknown' | 'malformed';
}

const MALFORMED = {
  event: ['0', '-1', '1.5', '0x10', '9007199254740992', 'abc', '1e3', ' 1', '1\0'],
  other: ['abc', '1', '00000000-0000-4000-8000-00000000000', '{00000000-0000-4000-8000-000000000000}', '\0', "'"],
};

/** The uuid of that number; the kinds do not share any. */
export const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;

const at = <T>(items: T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];

function tableOf(model: Model, tenant: Tenant, kind: IdKind): Pick<Table<string | number, unknown>, 'living' | 'gone'> {
  const tables = {
    event: tenant.events,
    lead: tenant.leads,
    activity: tenant.activities,
    activation: tenant.activations,
    tagGroup: tenant.tagGroups,
    industryEvent: model.catalogue,
  };
  return tables[kind];
}

/** The id that a reference means, as text. What is not there becomes an unknown one. */
export function idOf(model: Model, tenant: Tenant, { $: kind, n, of = 'own' }: Reference): string {
  const unknown = kind === 'event' ? String(900_000 + n) : uuidOf(0xffff0000 + n);
  if (kind === 'new') return uuidOf(n);
  if (kind === 'long') return 'x'.repeat(n);
  if (kind === 'eventRef') return at(refsOf(tenant), n) ?? `ref-${n % 8}`;
  if (kind === 'user') return at(tenant.users.living(), n) ?? `user${n}@example.com`;
  if (kind === 'tagOption') return at(optionsOf(of === 'foreign' ? other(model, tenant, n) : tenant), n) ?? unknown;
  if (of === 'malformed') return at(MALFORMED[kind === 'event' ? 'event' : 'other'], n) ?? '';
  if (of === 'unknown') return unknown;
  if (of === 'associated') return partOf(at(tenant.associations.living(), n), kind) ?? unknown;
  const table = tableOf(model, of === 'foreign' ? other(model, tenant, n) : tenant, kind);
  const id = String(at(of === 'gone' ? table.gone() : table.living(), n) ?? unknown);
  return of === 'upper' ? id.toUpperCase() : id;
}

/** The event or the lead of an association's key. */
const partOf = (association: string | undefined, kind: IdKind): string | undefined =>
  association?.split('/')[kind === 'event' ? 0 : 1];

function other(model: Model, tenant: Tenant, n: number): Tenant {
  const others = model.tenants.list().filter((each) => each !== tenant);
  return at(others, n) ?? tenant;
}

const refsOf = (tenant: Tenant): string[] =>
  tenant.events.list().flatMap(({ ref }) => (ref === undefined ? [] : [ref]));

const optionsOf = (tenant: Tenant): string[] =>
  tenant.tagGroups.list().flatMap(({ shown }) => shown.tagOptions.map(({ id }) => id));

const isReference = (value: object): value is Reference => '$' in value;

/** A JSON value with its references replaced by what they mean. */
export function resolved(model: Model, tenant: Tenant, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolved(model, tenant, each));
  if (isReference(value)) return idOf(model, tenant, value);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(model, tenant, each)]));
}
