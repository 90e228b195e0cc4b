// The requests that the benchmarks make of a server and of those beside it.
import { dataset, leadId, leadOfEvent, random, searches } from './dataset.mjs';
import { request } from './load.mjs';
import { makeOrganization, refuse } from '../../scripts/services.mjs';

/** The measured routes, by the names that `--routes` takes. */
export const ROUTES = {
  leads: 'GET /leads?limit=50',
  lead: 'GET /leads/:id',
  activity: 'GET /leadActivityEvents?leadId=',
  search: 'GET /industryEvents?q=',
  patch: 'PATCH /leads/:id',
  associate: 'PUT /events/:id/leads',
  create: 'POST /leads',
};

/** What `--routes` says. */
export function routesOf({ routes: text }) {
  const routes = text.split(',');
  const unknown = routes.find((route) => !(route in ROUTES));
  return unknown ? refuse(`--routes: ${unknown} is none of ${Object.keys(ROUTES).join()}`) : routes;
}

/** The organizations of `requestsOf`, and their ids by their keys for a server beside Lanyard. */
export async function fillOrganizations(services, size) {
  console.error(`Importing ${size.leads} leads …`);
  const main = await makeOrganization(services, 'Main', dataset(1, size));
  const writer = await makeOrganization(services, 'Writer', dataset(2, { leads: Math.ceil(size.leads / 100) }));
  await services.pool.query('vacuum analyze');
  return { main, writer, keys: JSON.stringify({ [main.key]: main.id, [writer.key]: writer.id }) };
}

/** Requests a route that differ, and leads that one of them associates. */
const DIFFERENT = 400;
const ASSOCIATED = 20;

/** The requests of every route; creates go to an organization of their own, so that the measured lists keep their size. */
export function requestsOf(url, leads, main, writer) {
  const { below } = random(31);
  const numbers = Array.from({ length: DIFFERENT }, (_, n) => n);
  const phones = (n) => [{ number: `+1 555 ${2_000_000 + n}`, type: 'MOBILE', preferred: true }];
  const get = (path) => request(url, main.key, path);
  const ids = numbers.map(() => leadId(main.id, below(leads)));
  const associate = (event, n) =>
    Array.from({ length: ASSOCIATED }, (_, index) => ({
      leadId: leadId(main.id, leadOfEvent(leads, event, n + index * 3)),
      registered: true,
      checkedIn: (n + index) % 2 === 0,
    }));
  const eventIds = Object.entries(main.events).map(([ref, id]) => [Number(ref.split('-')[1]), id]);
  return {
    leads: [get('/leads?limit=50')],
    lead: ids.map((id) => get(`/leads/${id}`)),
    activity: ids.map((id) => get(`/leadActivityEvents?leadId=${id}`)),
    search: searches(60).map((q) => get(`/industryEvents?q=${encodeURIComponent(q)}`)),
    patch: ids.map((id, n) =>
      request(url, main.key, `/leads/${id}`, 'PATCH', { jobTitle: `Director ${n}`, phoneNumbers: phones(n) }),
    ),
    associate: numbers.map((n) => {
      const [event, id] = eventIds[n % eventIds.length];
      return request(url, main.key, `/events/${id}/leads`, 'PUT', { eventLeads: associate(event, n) });
    }),
    create: numbers.map((n) => {
      const names = { firstName: 'Nadia', lastName: `Number ${n}`, companyName: 'Flint Optics' };
      const email = `nadia${n}@example.com`;
      const body = { createdByEmail: 'booth@example.com', ...names, email, phoneNumbers: phones(n) };
      return request(url, writer.key, '/leads', 'POST', body);
    }),
  };
}
