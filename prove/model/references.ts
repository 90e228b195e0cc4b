import type { IdKind } from './endpoints';
import type { State, Tenant } from './records';

/**
 * Steps say which record they mean by its place among what is there at that moment (`the second newest lead`), so that
 * they stay meaningful when steps before them are left out, and can be kept as JSON.
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

const uuidOf = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;

const at = <T>(items: T[], n: number): T | undefined => items[n % Math.max(items.length, 1)];

/** The id that a reference means, as text. What is not there becomes an unknown one. */
function idOf(state: State, tenant: Tenant, { $: kind, n, of = 'own' }: Reference): string {
  const unknown = kind === 'event' ? String(900_000 + n) : uuidOf(0xffff_ffff_0000 + n);
  const owner = of === 'foreign' ? (at(otherTenants(state, tenant), n) ?? tenant) : tenant;
  switch (kind) {
    case 'new':
      return uuidOf(n);
    case 'long':
      return 'x'.repeat(n);
    case 'eventRef':
      return at(refsOf(owner), n) ?? `ref-${n}`;
    case 'user':
      return at(owner.users.living(), n) ?? `nobody${n}@example.com`;
    case 'tagOption':
      return at(optionsOf(owner), n) ?? unknown;
    default:
      return recordIdOf(state, owner, { $: kind, n, of }) ?? unknown;
  }
}

function recordIdOf(state: State, owner: Tenant, { $: kind, n, of }: Reference & { $: IdKind }): string | undefined {
  if (of === 'malformed') return at(MALFORMED[kind === 'event' ? 'event' : 'other'], n);
  if (of === 'unknown') return undefined;
  if (of === 'associated') return at(owner.associations.living(), n)?.split('/')[kind === 'event' ? 0 : 1];
  const table = {
    event: owner.events,
    lead: owner.leads,
    activity: owner.activities,
    activation: owner.activations,
    tagGroup: owner.tagGroups,
    industryEvent: state.catalogue,
  }[kind];
  const id = at<string | number>(of === 'gone' ? table.gone() : table.living(), n);
  return of === 'upper' ? id?.toString().toUpperCase() : id?.toString();
}

const otherTenants = (state: State, tenant: Tenant): Tenant[] =>
  state.tenants.list().filter((each) => each.id !== tenant.id);

const refsOf = (tenant: Tenant): string[] => tenant.events.list().flatMap(({ ref }) => ref ?? []);

const optionsOf = (tenant: Tenant): string[] =>
  tenant.tagGroups.list().flatMap(({ shown }) => shown.tagOptions.map(({ id }) => id));

/** A JSON value with its references replaced by what they mean. */
export function resolved(state: State, tenant: Tenant, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolved(state, tenant, each));
  if ('$' in value) return idOf(state, tenant, value as Reference);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(state, tenant, each)]));
}
