import { generateKey } from '../../../src/access/key-format';
import type { Ask } from '../support/ask';
import type { Canaries } from './canaries';

/** Requests that hold a canary in every field. */

export const createLead = (canaries: Canaries, marker = canaries.marker()): Ask => ({
  method: 'POST',
  path: '/api/v0/leads',
  body: {
    createdByEmail: canaries.email(),
    firstName: canaries.text(),
    lastName: canaries.text(),
    companyName: canaries.text(),
    email: canaries.email(marker),
    phoneNumbers: [{ number: `+${canaries.digits}`, type: 'MOBILE', preferred: false }],
  },
});

export const createEvent = (canaries: Canaries): Ask => ({
  method: 'POST',
  path: '/api/v0/events',
  body: {
    createdByEmail: canaries.email(),
    eventName: canaries.text(),
    eventType: 'EVENT',
    startDate: '2030-01-01',
    endDate: '2030-01-02',
  },
});

/** Requests that are not remembered. Most are refused, with a canary in what an error could quote. */
export const OTHERS: ((canaries: Canaries) => Ask)[] = [
  (canaries) => ({
    method: 'POST',
    path: '/api/v0/industryEvents',
    body: {
      name: canaries.text(),
      eventUrl: canaries.url(),
      website: canaries.url(),
      description: canaries.text(),
      venueCity: canaries.text(),
      sourceId: canaries.text(),
      keywords: [canaries.text(), canaries.text()],
    },
  }),
  (canaries) => ({ method: 'POST', path: '/api/v0/leads', body: `{"firstName": "${canaries.text()}", ` }),
  (canaries) => ({ method: 'POST', path: '/api/v0/leads', body: { email: canaries.text() } }),
  (canaries) => ({ method: 'GET', path: `/api/v0/leads/${encodeURIComponent(canaries.text())}` }),
  (canaries) => ({ method: 'GET', path: `/api/v0/${canaries.marker()}?q=${canaries.marker()}` }),
  (canaries) => ({ method: 'GET', path: '/api/v0/leads', key: canaries.watch(generateKey()) }),
  (canaries) => ({ method: 'GET', path: '/api/v0/leads', headers: { [canaries.marker()]: canaries.marker() } }),
  // More words than a search document of PostgreSQL can hold.
  (canaries) => ({
    method: 'POST',
    path: '/api/v0/industryEvents',
    body: { name: canaries.text(), description: Array.from({ length: 2500 }, () => canaries.marker()).join(' ') },
  }),
];
