// npm run bench search: what does a search of a large catalogue take, beside the same one of a small catalogue?
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { fixed, median, print, sizesOf } from './load.mjs';
import { LANYARD, makeOrganization, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  rounds: { type: 'string', default: '50' },
  sizes: { type: 'string', default: '10000,100000' },
});
const sizes = sizesOf(options, 1000, 2);

/** Records n = $1 to $2. Of all, a tenth have each of three words, one of them in the name; 12 have the rare one. */
const FILL = `insert into industry_events (position, created_at, name, venue_city, keywords, description, event_url)
  select (select list_take(0, 'industry_events', 1 + $2::int - $1::int)) + n - $1::int, timestamptz '2025-01-06 00:00Z' + n * interval '1 second',
    'Fair ' || n || case when n % 10 = 3 then ' Hydrogen' else '' end, 'Cork',
    case when n / 10 % 10 = 3 then '{optics}'::text[] else '{makers}' end,
    'Buyers meet in hall ' || n % 97 || ' of house ' || n % 9973 || case when n / 100 % 10 = 3 then ', about ceramics' else '' end
      || case when n % (($3 + 11) / 12) = 5 then ', in a zeppelin' else '' end || '.', 'https://fairs.example.com/' || n
  from generate_series($1::int, $2::int) n`;
const AT_ONCE = 10_000;

const SEARCHES = {
  'a rare word (12 records)': 'zeppelin',
  'a word of a tenth, in names': 'hydrogen',
  'a word of a tenth, in descriptions': 'ceramics',
  'three words of a tenth each': 'hydrogen optics ceramics',
};

async function catalogueOf(size, defer) {
  const services = await startServices(options, defer);
  const { pool } = services;
  console.error(`Filling a catalogue of ${size} industry events …`);
  const { key } = await makeOrganization(services, 'Searcher');
  for (let n = 1; n <= size; n += AT_ONCE) await pool.query(FILL, [n, Math.min(size, n + AT_ONCE - 1), size]);
  await pool.query('vacuum analyze');
  const { url } = await startServer(services, LANYARD);
  return { size, pool, url, key, times: {} };
}

/** One connection, and nothing that `fetch` does beside: what is measured takes a millisecond. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds of a search, as its client sees it. @throws Error unless it is answered with 200 */
async function search({ url, key }, q) {
  const started = performance.now();
  const sent = get(`${url}/industryEvents?limit=20&q=${encodeURIComponent(q)}`, {
    agent,
    headers: { 'x-api-key': key },
  });
  const [response] = await once(sent, 'response');
  const body = await text(response);
  const time = performance.now() - started;
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${body}`);
  return { time, total: JSON.parse(body).results.total };
}

/** Rounds that are not counted: Node.js compiles what it runs often. */
const WARM_UP = 50;

async function benchmark(defer) {
  const catalogues = [];
  for (const size of sizes) catalogues.push(await catalogueOf(size, defer));
  const names = Object.keys(SEARCHES);
  const wrong = [];
  for (const catalogue of catalogues) {
    for (const name of names) {
      const { rows } = await catalogue.pool.query(
        `select count(*)::int as total from industry_events where search @@ websearch_to_tsquery('search', $1)`,
        [SEARCHES[name]],
      );
      const { total } = await search(catalogue, SEARCHES[name]);
      if (total !== rows[0].total) wrong.push(`${name}: total ${total}, but count(*) is ${rows[0].total}`);
      catalogue.times[name] = [];
    }
  }
  for (let round = -WARM_UP; round < options.rounds; round++) {
    for (const name of names) {
      for (const catalogue of catalogues) {
        const { time } = await search(catalogue, SEARCHES[name]);
        if (round >= 0) catalogue.times[name].push(time);
      }
    }
  }
  agent.destroy();
  report(catalogues);
  console.log(wrong.length ? `\n${wrong.join('\n')}` : `\nAll totals agree with count(*).`);
  return wrong.length ? 1 : 0;
}

function report([small, large]) {
  const cell = (name) => {
    const [of, beside] = [large, small].map(({ times }) => median(times[name]));
    return `${fixed(of / beside, 1)} (${fixed(of, 1)} ms)`;
  };
  print(`Time of a search in ${large.size} records, as a ratio to that in ${small.size}`, [
    ['search', 'ratio'],
    ...Object.keys(SEARCHES).map((name) => [name, cell(name)]),
  ]);
}

await run(benchmark);
