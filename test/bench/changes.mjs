// npm run bench changes: a page of the feed of changes beside pages of leads, also when a million changes are kept, and writes
// with the triggers of the feed beside the same ones without.
import { performance } from 'node:perf_hooks';
import { dataset } from './dataset.mjs';
import {
  allSucceeded,
  answerOf,
  fixed,
  load,
  LOAD_OPTIONS,
  median,
  print,
  request,
  settle,
  statusText,
} from './load.mjs';
import {
  LANYARD,
  makeOrganization,
  operator,
  readOptions,
  run,
  startServer,
  startServices,
} from '../../scripts/services.mjs';

const options = readOptions({
  ...LOAD_OPTIONS,
  rounds: { type: 'string', default: '7' },
  seconds: { type: 'string', default: '1' },
  kept: { type: 'string', default: '1000000' },
  // of an import
  leads: { type: 'string', default: '20000' },
});
const { rounds, seconds, connections, kept } = options;
const LEADS = 2000;
const PAGE = 100;
const EVENT_LEADS = 20;
/** Rows of a transaction that fills the log. */
const FILLED_AT_ONCE = 10_000;

const FILL = `insert into leads (organization_id, position, first_name, last_name, email, company_name,
    lead_provided_phone_numbers)
  select $1, (select list_take($1, 'leads', $2::int)) + n - 1, 'Ada', 'Number ' || n, 'lead' || n || '@example.com',
    'Cobalt Systems', '[{"type": "MOBILE", "number": "+1 555 2000000", "preferred": true}]'
  from generate_series(1, $2::int) n returning id`;
/** Changes of leads that are there, as the triggers log them. */
const LOG = `insert into changes (organization_id, resource, operation, id)
  select $1, 4, 'u', ($2::uuid[])[1 + n % cardinality($2::uuid[])] from generate_series(1, $3::int) n`;
const TRIGGERS = `select tgrelid::regclass::text as table, tgname as name from pg_trigger where tgname like 't60_change_%'`;

async function fillOrganization(services, name) {
  const organization = await makeOrganization(services, name);
  const { rows } = await services.pool.query(FILL, [organization.id, LEADS]);
  return { ...organization, leads: rows.map(({ id }) => id) };
}

const asked = async (url, key, path) => {
  const { status, text } = await answerOf(url, request(url, key, path));
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text).results;
};
const now = async (url, { key }) => (await asked(url, key, '/changes?since=now')).cursor;

/** Reads that are compared with pages of leads. @returns name, requests, and how many pages of leads each stands beside */
async function readsOf({ pool }, url, small, large) {
  const page = (organization, cursor) => [request(url, organization.key, `/changes?limit=${PAGE}&cursor=${cursor}`)];
  const before = await now(url, small);
  await pool.query(`update leads set job_title = 'Buyer' where id = any($1)`, [small.leads.slice(0, PAGE)]);
  const first = await now(url, large);
  for (let rows = 0; rows < kept; rows += FILLED_AT_ONCE) {
    await pool.query(LOG, [large.id, large.leads, Math.min(FILLED_AT_ONCE, kept - rows)]);
  }
  await pool.query('vacuum analyze');
  let deep = first;
  for (let n = 0; n < 20; n++) deep = (await asked(url, large.key, `/changes?limit=500&cursor=${deep}`)).cursor;
  const snapshot = [request(url, small.key, `/changes?limit=${PAGE}`)];
  return [
    { name: `page of ${PAGE} changes`, requests: page(small, before), pages: 3 },
    { name: `page of the first reading`, requests: snapshot, pages: 3 },
    { name: `first page of ${kept} kept changes`, requests: page(large, first), pages: 3 },
    { name: `page deep in ${kept} kept changes`, requests: page(large, deep), pages: 3 },
    { name: 'poll with nothing new', requests: page(small, await now(url, small)), pages: 1 },
  ];
}

/** One connection each: what is asked for is the time of an answer. */
async function measureReads({ pool }, url, small, reads) {
  const leads = [0, 1, 2].map((offset) => request(url, small.key, `/leads?limit=50&offset=${offset}`));
  const sides = [{ name: 'page of 50 leads', requests: leads, pages: 1 }, ...reads].map((side) => ({
    ...side,
    runs: [],
  }));
  for (let round = -1; round < rounds; round++) {
    for (const { requests, runs } of sides) {
      await settle(pool);
      const measured = await load({ url, requests, connections: 1, seconds: round < 0 ? 0.3 : seconds });
      if (round >= 0) runs.push(measured);
    }
  }
  return sides;
}

/** Writes that change something each time: on every second round of the requests it is as it was. */
function writesOf(url, { key, leads }, event) {
  const of = (method, path, body) => request(url, key, path, method, body);
  const some = leads.slice(0, 400);
  const titles = ['Buyer', 'Engineer'];
  const groups = Array.from({ length: 20 }, (_, n) => leads.slice(n * EVENT_LEADS, (n + 1) * EVENT_LEADS));
  const entries = (ids, checkedIn) => ({ eventLeads: ids.map((leadId) => ({ leadId, registered: true, checkedIn })) });
  const body = { createdByEmail: 'booth@example.com', firstName: 'Ben', lastName: 'Late', companyName: 'Quarry Labs' };
  return [
    { name: 'POST /leads', requests: [of('POST', '/leads', body)] },
    {
      name: 'PATCH /leads/:id',
      requests: titles.flatMap((jobTitle) => some.map((id) => of('PATCH', `/leads/${id}`, { jobTitle }))),
    },
    {
      name: `PUT of ${EVENT_LEADS} event leads`,
      requests: [true, false].flatMap((is) =>
        groups.map((ids) => of('PUT', `/events/${event}/leads`, entries(ids, is))),
      ),
    },
  ];
}

async function switchTriggers(pool, to) {
  const { rows } = await pool.query(TRIGGERS);
  for (const { table, name } of rows)
    await pool.query(`alter table ${table} ${to ? 'enable' : 'disable'} trigger ${name}`);
}

/** Seconds of an import into an organization of its own. */
async function importSeconds(services, number) {
  const records = function* (...sections) {
    for (const each of dataset(number, options)) {
      if (each.section === 'leadActivityEvents') return;
      if (sections.includes(each.section)) yield each;
    }
  };
  const { id } = await makeOrganization(
    services,
    `Import ${number}`,
    records('users', 'tagGroups', 'events', 'activations'),
  );
  const lines = Array.from(records('leads'), (each) => `${JSON.stringify(each)}\n`);
  const begun = performance.now();
  await operator(services, ['import', '-', '--organization', String(id)], lines);
  return (performance.now() - begun) / 1000;
}

/** With and without the triggers in turn, the other way round in every second round. */
async function measureWrites(services, url, small, writes) {
  const { pool } = services;
  const seen = writes.map(({ name }) => ({ name, with: [], without: [] }));
  const imports = { name: `import of ${options.leads} leads`, with: [], without: [] };
  const count = async () => Number((await pool.query('select count(*) from changes')).rows[0].count);
  for (let round = -1; round < rounds; round++) {
    console.error(`Round ${round + 1} of ${rounds} …`);
    for (const isOn of round % 2 ? [true, false] : [false, true]) {
      await switchTriggers(pool, isOn);
      const before = await count();
      for (const [n, { requests }] of writes.entries()) {
        await settle(pool);
        const measured = await load({ url, requests, connections, seconds: round < 0 ? 0.3 : seconds });
        if (round >= 0) seen[n][isOn ? 'with' : 'without'].push(measured);
      }
      if (round >= 0) {
        const took = await importSeconds(services, 100 + round * 2 + Number(isOn));
        imports[isOn ? 'with' : 'without'].push({ rate: options.leads / took, count: 1, statuses: { 200: 1 } });
      }
      if ((await count()) > before !== isOn) throw new Error('the triggers are not as they were switched');
    }
    await pool.query('vacuum analyze');
  }
  return [...seen, imports];
}

/** `0.98 (0.91 to 1.04)`: the median and the spread. */
const spread = (ratios) =>
  `${fixed(median(ratios), 2)} (${fixed(Math.min(...ratios), 2)} to ${fixed(Math.max(...ratios), 2)})`;
const failures = (runs) => (allSucceeded(runs) ? '' : ` !! ${statusText(runs)}`);

function reportReads([leads, ...sides]) {
  const rows = sides.map(({ name, pages, runs }) => {
    const ratios = runs.map(({ rate }, n) => leads.runs[n].rate / rate / pages);
    const p50 = fixed(median(runs.map((each) => each.p50)), 2);
    return [name, p50 + failures(runs), `${pages}`, spread(ratios)];
  });
  const base = ['page of 50 leads', fixed(median(leads.runs.map((each) => each.p50)), 2), '1', '1.00'];
  print('Time of an answer, beside pages of 50 leads', [['', 'p50, ms', 'pages', 'ratio of time'], base, ...rows]);
}

function reportWrites(writes) {
  const rows = writes.map((side) => {
    const rate = (which) => fixed(median(side[which].map((each) => each.rate)), 0);
    const ratios = side.with.map((each, n) => each.rate / side.without[n].rate);
    return [side.name, rate('without'), rate('with'), spread(ratios) + failures([...side.with, ...side.without])];
  });
  print('Writes a second (leads, of imports)', [['', 'without triggers', 'with', 'ratio'], ...rows]);
}

async function benchmark(defer) {
  const services = await startServices(options, defer);
  const { pool } = services;
  const small = await fillOrganization(services, 'Small');
  const large = await fillOrganization(services, 'Large');
  const { url } = await startServer(services, LANYARD);
  console.error(`Filling a log of ${kept} changes …`);
  const reads = await readsOf(services, url, small, large);
  const { rows } = await pool.query(`select pg_total_relation_size('changes') / count(*) as bytes from changes`);
  const sides = await measureReads(services, url, small, reads);
  reportReads(sides);
  console.log(`\n${rows[0].bytes} bytes a change, with its index.`);
  const body = {
    eventName: 'Expo',
    eventType: 'EVENT',
    startDate: '2026-05-04',
    endDate: '2026-05-06',
    createdByEmail: 'a@example.com',
  };
  const { text } = await answerOf(url, request(url, small.key, '/events', 'POST', body));
  const writes = await measureWrites(services, url, small, writesOf(url, small, JSON.parse(text).results.id));
  reportWrites(writes);
  const runs = [...sides.flatMap((side) => side.runs), ...writes.flatMap((side) => [...side.with, ...side.without])];
  return allSucceeded(runs) ? 0 : 1;
}

await run(benchmark);
