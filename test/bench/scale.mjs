// npm run bench scale: do far pages of large lists cost what the first page of a small list does, and are they right?
import { random } from './dataset.mjs';
import {
  allSucceeded,
  answerOf,
  failureText,
  filledOrganizations,
  fixed,
  LOAD_OPTIONS,
  measure,
  median,
  print,
  request,
  sizesOf,
} from './load.mjs';
import { LANYARD, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  ...LOAD_OPTIONS,
  seconds: { type: 'string', default: '2' },
  sizes: { type: 'string', default: '1000,100000' },
});
const LIMIT = 50;
const sizes = sizesOf(options, LIMIT * 4);

/** SQL of a uuid that grows with the row's number, and of a time that several rows share. */
const id = (kind) => `(lpad(to_hex($1::int), 8, '0') || '-000${kind}-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
const at = (unit) => `timestamptz '2025-01-06 00:00Z' + n / 3 * interval '1 ${unit}'`;
const rows = (count = '$2::int') => `from generate_series(1, ${count}) n`;
/** SQL of the positions of a list's rows, all at the end of it. */
const atEnd = (list, count) => `(select list_take($1, ${list}, ${count})) + n - 1`;
const EVENT = '(select min(id) from events where organization_id = $1)';
// Not on one of the pages that are measured: its own JSON holds the ids of all its activity events.
const LEAD = `(select id from leads where organization_id = $1 order by position offset 60 limit 1)`;

/** An organization $1 of $2 leads: half of the activity events are one lead's, and all leads are one event's. */
const FILL = [
  `insert into events (organization_id, position, created_at, name, type, registration_enabled, start_date, end_date)
    select $1, ${atEnd("'events'", '$2::int / 4')}, ${at('second')}, 'Event ' || n, 'TRADE_SHOW', true, '2026-05-04', '2026-05-06' ${rows('$2::int / 4')}`,
  `insert into activations (organization_id, position, id, event_id, created_at, name, type, start_date, end_date,
      start_time, end_time) select $1, ${atEnd("'activations'", '$2::int / 4')}, ${id(1)}, ${EVENT}, ${at('second')}, 'Booth ' || n, 'BOOTH', '2026-05-04', '2026-05-06',
      '09:00', '18:00' ${rows('$2::int / 4')}`,
  `insert into leads (organization_id, position, id, created_at, first_name, last_name, email, company_name,
      lead_provided_phone_numbers) select $1, ${atEnd("'leads'", '$2::int')}, ${id(2)}, ${at('second')}, 'Ada', 'Number ' || n,
      'lead' || n || '@example.com', 'Cobalt Systems', '[{"type": "MOBILE", "number": "+1 555 2000000", "preferred": true}]'
      ${rows()}`,
  `insert into event_leads (organization_id, position, event_id, lead_id, registered, checked_in)
    select $1, ${atEnd(`'event_leads/' || ${EVENT}`, '$2::int')}, ${EVENT}, ${id(2)}, true, n % 2 = 0 ${rows()}`,
  `insert into lead_activity_events (organization_id, position, id, created_at, event_type, event_notes, lead_id)
    select $1, ${atEnd("'lead_activity_events'", '$2::int')}, ${id(3)}, ${at('second')}, (array['NOTE', 'PHONE', 'EMAIL'])[n % 3 + 1], 'Called back.',
      case n % 2 when 0 then ${LEAD} else ${id(2)} end ${rows()}`,
];
const FILL_INDUSTRY_EVENTS = `insert into industry_events (position, id, created_at, updated_at, name, venue_city)
  select (select list_take(0, 'industry_events', $1::int)) + n - 1, (lpad(to_hex(n), 8, '0') || '-0004-7000-8000-000000000000')::uuid, ${at('second')}, now(), 'Fair ' || n, 'Cork'
  ${rows('$1::int')}`;

/** What is listed: where it is in the API, and the SQL of all its ids in order. */
async function listsOf(pool, organization) {
  const { rows: found } = await pool.query(`select ${EVENT} as event, ${LEAD} as lead`, [organization]);
  const { event, lead } = found[0];
  const from = (table, where = '') => `select id from ${table} where organization_id = $1${where} order by position`;
  const activity = 'lead_activity_events';
  return [
    { name: 'leads', path: '/leads', ids: from('leads') },
    { name: 'activity events', path: '/leadActivityEvents', ids: from(activity) },
    {
      name: '… of a lead',
      path: `/leadActivityEvents?leadId=${lead}`,
      ids: from(activity, ` and lead_id = '${lead}'`),
    },
    {
      name: '… of a type',
      path: '/leadActivityEvents?eventType=NOTE',
      ids: from(activity, ` and event_type = 'NOTE'`),
    },
    {
      name: 'event leads',
      path: `/events/${event}/leads`,
      ids: `select lead_id as id from event_leads where organization_id = $1 and event_id = ${event}
        order by position`,
    },
    { name: 'events', path: '/events', ids: from('events') },
    { name: 'activations', path: '/activations', ids: from('activations') },
  ];
}
const INDUSTRY_EVENTS = {
  name: 'industry events',
  path: '/industryEvents',
  ids: 'select id from industry_events where $1::int > 0 order by position',
};

const pageOf = ({ path }, limit, offset) => `${path}${path.includes('?') ? '&' : '?'}limit=${limit}&offset=${offset}`;

/** A list's first, middle and last full page. */
async function casesOf(pool, url, { size, id: organization, key, list }) {
  const { rows: counted } = await pool.query(`select count(*)::int as total from (${list.ids}) ids`, [organization]);
  const last = Math.max(1, Math.floor(counted[0].total / LIMIT)) - 1;
  const requests = [0, last >> 1, last].map((offset) => request(url, key, pageOf(list, LIMIT, offset)));
  return { size, list, last, pages: requests.map((page) => ({ requests: [page], runs: [] })) };
}

/** Deletes and creates leads, several at a time, so that what the database keeps of its lists has to follow. */
async function churn(pool, url, { id: organization, key }) {
  const { rows: leads } = await pool.query(
    'select id from leads where organization_id = $1 order by random() limit 20',
    [organization],
  );
  const body = { createdByEmail: 'booth@example.com', firstName: 'Ben', lastName: 'Late', companyName: 'Quarry Labs' };
  const requests = leads.flatMap((lead) => [
    request(url, key, `/leads/${lead.id}`, 'DELETE'),
    request(url, key, '/leads', 'POST', body),
  ]);
  const answers = await Promise.all(requests.map((each) => answerOf(url, each)));
  const refused = answers.find(({ status }) => status !== 200);
  if (refused) throw new Error(`${refused.status} ${refused.text}`);
}

/** Pages of random sizes and places against the whole list as SQL has it. @returns what is wrong */
async function check(pool, url, { size, id: organization, key, list }) {
  const { rows: found } = await pool.query(list.ids, [organization]);
  const ids = found.map((row) => String(row.id));
  const { below } = random(size);
  const wrong = [];
  for (let n = 0; n < 20; n++) {
    const limit = 1 + below(LIMIT);
    const pages = Math.ceil(ids.length / limit);
    const offset = n === 0 ? pages : n === 1 ? pages - 1 : below(pages); // past the end, the last, any
    const page = pageOf(list, limit, offset);
    const { status, text } = await answerOf(url, request(url, key, page));
    const { total, ...items } = status === 200 ? JSON.parse(text).results : { none: [] };
    const met = Object.values(items)[0].map((item) => String(item.id ?? item.leadId));
    const expected = ids.slice(offset * limit, (offset + 1) * limit);
    if (status !== 200 || met.join() !== expected.join()) wrong.push(`${page}: ${status}, not the records of the scan`);
    if (total !== ids.length) wrong.push(`${page}: total ${total}, but count(*) is ${ids.length}`);
  }
  return wrong;
}

async function benchmark(defer) {
  const services = await startServices(options, defer);
  const { pool } = services;
  const organizations = await filledOrganizations(services, sizes, FILL);
  const largest = organizations.find(({ size }) => size === Math.max(...sizes));
  await pool.query(FILL_INDUSTRY_EVENTS, [Math.ceil(largest.size / 4)]);
  await pool.query('vacuum analyze');
  const { url } = await startServer(services, LANYARD);

  const listed = [];
  for (const organization of organizations) {
    for (const list of await listsOf(pool, organization.id)) listed.push({ ...organization, list });
  }
  listed.push({ ...largest, list: INDUSTRY_EVENTS });
  // What is compared is measured within seconds: a machine's speed drifts within minutes.
  const names = listed.map(({ list }) => list.name);
  listed.sort((a, b) => names.indexOf(a.list.name) - names.indexOf(b.list.name));
  const cases = [];
  for (const each of listed) cases.push(await casesOf(pool, url, each));
  const pages = cases.flatMap((each) => each.pages);
  await measure(services, url, pages, options);
  report(cases);

  const wrong = [];
  for (const organization of organizations) await churn(pool, url, organization);
  for (const each of listed) wrong.push(...(await check(pool, url, each)));
  console.log(
    wrong.length ? `\n${wrong.join('\n')}` : `\nAll pages checked agree with a scan, and all totals with count(*).`,
  );
  return wrong.length || !pages.every(({ runs }) => allSucceeded(runs)) ? 1 : 0;
}

/** Ratios to the first page of the same list in the first organization of `--sizes` that has it. */
function report(cases) {
  const row = ({ size, list, last, pages }) => {
    const base = cases.find((each) => each.list.name === list.name).pages[0].runs;
    const cells = pages.map(({ runs }) => {
      const ratio = median(runs.map(({ rate }, n) => rate / base[n].rate));
      return `${fixed(ratio, 2)} (${fixed(median(runs.map(({ rate }) => rate)), 0)}/s)${failureText(runs)}`;
    });
    return [list.name, String(size), String(last + 1), ...cells];
  };
  const head = ['list', 'leads', 'pages', 'first page', 'middle page', 'last page'];
  print(`Requests a second, as a ratio to the first page at ${sizes[0]} leads`, [head, ...cases.map(row)]);
}

await run(benchmark);
