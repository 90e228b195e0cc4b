import { randomUUID } from 'node:crypto';
import { newKey } from '../../src/access/key-format';
import type { Canaries } from './canaries';
import type { Ask } from './http';
import type { Creation } from './load';
import type { Random } from './random';

/** Requests that are refused, each on another way, with a canary in what an error could quote. */
const PROVOCATIONS: ((canaries: Canaries, taken: Creation[]) => Ask)[] = [
  (canaries) => ({ method: 'POST', path: '/api/v0/leads', body: `{"firstName": "${canaries.text()}", ` }),
  (canaries) => ({
    method: 'POST',
    path: '/api/v0/leads',
    body: { firstName: canaries.text(), email: canaries.text() },
  }),
  (canaries) => ({ method: 'PATCH', path: `/api/v0/leads/${randomUUID()}`, body: { description: canaries.text() } }),
  (canaries) => ({ method: 'GET', path: `/api/v0/leads/${encodeURIComponent(canaries.text())}` }),
  (canaries) => ({ method: 'GET', path: `/api/v0/${canaries.marker()}?q=${canaries.marker()}` }),
  (canaries) => ({ method: 'GET', path: `/api/v0/industryEvents?q=${canaries.marker()}%00` }),
  (canaries) => ({
    method: 'GET',
    path: `/api/v0/industryEvents?q=%22${canaries.marker()}%20or%20-&limit=${canaries.digits}`,
  }),
  (canaries) => ({ method: 'GET', path: '/api/v0/leads', key: canaries.watch(newKey()) }),
  (canaries) => ({ method: 'GET', path: '/api/v0/leads', key: canaries.marker() }),
  (canaries) => ({ method: 'GET', path: '/api/v0/leads', headers: { [canaries.marker()]: canaries.marker() } }),
  (canaries) => ({
    method: 'PUT',
    path: `/api/v0/events/${canaries.digits}/leads`,
    body: { eventLeads: [{ leadId: canaries.marker() }] },
  }),
  (canaries) => ({
    method: 'POST',
    path: '/api/v0/industryEvents',
    // More words than PostgreSQL's search can hold.
    body: {
      name: canaries.text(),
      description: Array.from({ length: 3000 }, () => canaries.marker())
        .join(' ')
        .slice(0, 65_000),
    },
  }),
  // A unique index refuses this one, and PostgreSQL's log has a line about it. With one record alone it would be obeyed.
  (canaries, [first, second]) => ({
    method: 'PUT',
    path: `/api/v0/industryEvents/${(second && first?.stored?.id) ?? randomUUID()}`,
    body: { eventUrl: canaries.url(second?.marker), name: canaries.text() },
  }),
];

/** @param taken two records of the catalogue, if there are, of which one is given the other's URL */
export function provocation(random: Random, canaries: Canaries, taken: Creation[]): Ask {
  return random.pick(PROVOCATIONS)(canaries, taken);
}
