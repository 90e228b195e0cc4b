// npm run bench batch: leads a second in batches beside one POST after another, and leads found by e-mail address and remote
// id beside GET by id, in organizations of several sizes.
import { performance } from 'node:perf_hooks';
import { random } from './dataset.mjs';
import {
  allSucceeded,
  answerOf,
  failureText,
  filledOrganizations,
  fixed,
  load,
  LOAD_OPTIONS,
  measure,
  median,
  print,
  request,
  settle,
  sizesOf,
} from './load.mjs';
import { LANYARD, makeOrganization, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  ...LOAD_OPTIONS,
  seconds: { type: 'string', default: '3' },
  sizes: { type: 'string', default: '1000,1000000' },
});
const { rounds, seconds, connections } = options;
const sizes = sizesOf(options, 200);

const BATCH_SIZE = 200;
/** Batches of a round that differ: more than one connection sends in it. */
const BATCHES = 60;
/** Requests of a round of look-ups that differ. */
const DIFFERENT = 400;

/** Leads $1 organization, $2 of them: SQL, because an import of a million takes minutes. */
const FILL = `
  insert into leads (organization_id, position, id, first_name, last_name, email, company_name, remote_ids)
  select $1, (select list_take($1, 'leads', $2::int)) + n - 1,
    (lpad(to_hex($1::int), 8, '0') || '-0002-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Ada', 'Number ' || n,
    'Lead' || n || '@example.com', 'Cobalt Systems',
    jsonb_build_array(jsonb_build_object('id', 'crm-' || n, 'integrationType', 'HUB_SPOT'))
  from generate_series(1, $2::int) n`;
const hex = (number, digits) => number.toString(16).padStart(digits, '0');

const lead = (name, more) => ({
  createdByEmail: 'sync@example.com',
  firstName: 'Nadia',
  lastName: name,
  companyName: 'Flint Optics',
  email: `${name}@example.com`,
  ...more,
});
const leadsOf = (prefix, more = () => ({})) =>
  Array.from({ length: BATCHES }, (_, nth) =>
    Array.from({ length: BATCH_SIZE }, (_, n) => lead(`${prefix}-${nth}-${n}`, more(n))),
  );

/** The ways to write, each with the leads of a request; those that update find what the round's first batches made. */
function writesOf(url, key, round) {
  const batches = (matchBy, entries) =>
    entries.map((leads) => request(url, key, '/leads/batch', 'POST', { matchBy, leads }));
  const made = `made${round}`;
  return [
    {
      name: 'POST /leads, one after another',
      leads: 1,
      requests: leadsOf(`one${round}`)[0].map((each) => request(url, key, '/leads', 'POST', each)),
    },
    { name: 'batch of 200, none', leads: BATCH_SIZE, requests: batches('none', leadsOf(`none${round}`)) },
    {
      name: 'batch of 200, email, created',
      leads: BATCH_SIZE,
      isOnce: true,
      requests: batches('email', leadsOf(made)),
    },
    {
      name: 'batch of 200, email, updated',
      leads: BATCH_SIZE,
      isOnce: true,
      requests: batches(
        'email',
        leadsOf(made, () => ({ jobTitle: 'Buyer' })),
      ),
    },
    {
      name: 'batch of 200, email, unchanged',
      leads: BATCH_SIZE,
      isOnce: true,
      requests: batches(
        'email',
        leadsOf(made, () => ({ jobTitle: 'Buyer' })),
      ),
    },
  ];
}

/** Every request once, one after another. */
async function once(url, requests) {
  const times = [];
  const statuses = {};
  for (const each of requests) {
    const started = performance.now();
    const { status } = await answerOf(url, each);
    times.push(performance.now() - started);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  times.sort((a, b) => a - b);
  const elapsed = times.reduce((sum, time) => sum + time, 0);
  const at = (part) => times[Math.floor((times.length - 1) * part)];
  return { count: times.length, rate: (times.length * 1000) / elapsed, p50: at(0.5), p99: at(0.99), statuses };
}

async function measureWrites({ pool }, url, key) {
  const runs = new Map();
  for (let round = 0; round < rounds; round++) {
    console.error(`Writes, round ${round + 1} of ${rounds} …`);
    for (const { name, leads, isOnce, requests } of writesOf(url, key, round)) {
      await settle(pool);
      const measured = isOnce ? await once(url, requests) : await load({ url, requests, connections: 1, seconds });
      runs.set(name, [...(runs.get(name) ?? []), { ...measured, leadRate: measured.rate * leads }]);
    }
  }
  return runs;
}

function lookupsOf(url, { id, key, size }) {
  const { below } = random(size);
  const numbers = Array.from({ length: DIFFERENT }, () => 1 + below(size));
  const all = (path) => numbers.map((n) => request(url, key, path(n)));
  return {
    'GET /leads/:id': all((n) => `/leads/${hex(id, 8)}-0002-7000-8000-${hex(n, 12)}`),
    'GET /leads?email=': all((n) => `/leads?email=lead${n}@example.com`),
    'GET /leads?remoteId=&integrationType=': all((n) => `/leads?remoteId=crm-${n}&integrationType=HUB_SPOT`),
  };
}

async function measureLookups(services, url, organizations) {
  const cases = organizations.flatMap((organization) =>
    Object.entries(lookupsOf(url, organization)).map(([name, requests]) => ({
      name,
      size: organization.size,
      requests,
      runs: [],
    })),
  );
  for (const { name, size, requests } of cases) {
    const { text } = await answerOf(url, requests[0]);
    if (name !== 'GET /leads/:id' && JSON.parse(text).results.total !== 1) throw new Error(`${name}, ${size}: ${text}`);
  }
  await measure(services, url, cases, options);
  return cases;
}

async function benchmark(defer) {
  const services = await startServices(options, defer);
  const writer = await makeOrganization(services, 'Writer');
  const organizations = await filledOrganizations(services, sizes, [FILL]);
  await services.pool.query('vacuum analyze');
  const { url } = await startServer(services, LANYARD);
  const writes = await measureWrites(services, url, writer.key);
  const lookups = await measureLookups(services, url, organizations);
  report(writes, lookups);
  return [...writes.values(), ...lookups.map(({ runs }) => runs)].every(allSucceeded) ? 0 : 1;
}

function report(writes, lookups) {
  const [single] = writes.values();
  const middle = (runs, digits, figure) => fixed(median(runs.map(figure)), digits);
  const write = ([name, runs]) => [
    name + failureText(runs),
    middle(runs, 0, ({ leadRate }) => leadRate),
    middle(runs, 1, ({ leadRate }, n) => leadRate / single[n].leadRate),
    middle(runs, 1, ({ p50 }) => p50),
    middle(runs, 1, ({ p99 }) => p99),
  ];
  print('On one connection', [['request', 'leads/s', 'ratio', 'p50 ms', 'p99 ms'], ...[...writes].map(write)]);
  const lookup = ({ name, size, runs }) => {
    const base = lookups.find((each) => each.size === size).runs;
    return [
      name + failureText(runs),
      String(size),
      middle(runs, 0, ({ rate }) => rate),
      middle(runs, 2, ({ rate }, n) => rate / base[n].rate),
      middle(runs, 1, ({ p50 }) => p50),
    ];
  };
  print(`On ${connections} connections`, [
    ['request', 'leads', 'requests/s', 'ratio', 'p50 ms'],
    ...lookups.map(lookup),
  ]);
}

await run(benchmark);
