// npm run bench processes: what do two and four processes give, on one PostgreSQL and one Redis? And what does a lead take on the disk?
import { performance } from 'node:perf_hooks';
import { allSucceeded, cpuMeter, fixed, load, median, print, settle, statusText } from './load.mjs';
import { fillOrganizations, requestsOf, ROUTES, routesOf } from './routes.mjs';
import { LANYARD, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '20' },
  leads: { type: 'string', default: '50000' },
  routes: { type: 'string', default: 'leads,lead,patch,create' },
});
const { rounds, seconds, connections, leads } = options;
/** How many processes are loaded at once. */
const COUNTS = [1, 2, 4];

/** Bytes of the database, and of its indexes. */
const SIZES = `select pg_database_size(current_database())::float8 as size, sum(pg_indexes_size(oid))::float8 as indexes
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`;

/** Loads the first processes, each with its share of the connections. */
async function loadProcesses({ services, cpu, servers }, count, route, duration) {
  await settle(services.pool);
  const loaded = servers.slice(0, count);
  const readCpu = async () => {
    const all = await Promise.all(loaded.map(({ pid }) => cpu(pid)));
    return { node: all.reduce((sum, { node }) => sum + node, 0), postgres: all[0].postgres };
  };
  const [before, started] = [await readCpu(), performance.now()];
  const loads = loaded.map(({ url, requests }) =>
    load({ url, requests: requests[route], connections: connections / count, seconds: duration }),
  );
  const results = await Promise.all(loads);
  const elapsed = (performance.now() - started) / 1000;
  const after = await readCpu();
  const requests = results.reduce((sum, each) => sum + each.count, 0);
  return {
    count: requests,
    rate: requests / elapsed,
    p99: Math.max(...results.map(({ p99 }) => p99)),
    node: (after.node - before.node) / requests,
    postgres: (after.postgres - before.postgres) / requests,
    statuses: Object.assign({}, ...results.map(({ statuses }) => statuses)),
  };
}

async function benchmark(defer) {
  const routes = routesOf(options);
  const services = await startServices(options, defer);
  const sizeOf = async () => (await services.pool.query(SIZES)).rows[0];
  const servers = [];
  for (let n = 0; n < Math.max(...COUNTS); n++) servers.push(await startServer(services, LANYARD));
  const empty = await sizeOf();
  const { main, writer } = await fillOrganizations(services, { leads, industryEvents: 100 });
  const filled = await sizeOf();
  const [whole, indexes] = ['size', 'indexes'].map((what) => fixed((filled[what] - empty[what]) / leads / 1000, 1));
  console.log(`A lead with three activity events takes ${whole} kB on the disk, of which ${indexes} kB are indexes.`);
  for (const server of servers) server.requests = requestsOf(server.url, leads, main, writer);
  const stage = { services, cpu: await cpuMeter(services), servers };
  for (const route of routes) await loadProcesses(stage, Math.max(...COUNTS), route, 1);
  const runs = new Map(routes.flatMap((route) => COUNTS.map((count) => [`${route} ${count}`, []])));
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} of ${rounds} …`);
    for (const route of routes)
      for (const count of COUNTS) runs.get(`${route} ${count}`).push(await loadProcesses(stage, count, route, seconds));
  }
  const cells = (route, what, digits) =>
    COUNTS.map((count) => fixed(median(runs.get(`${route} ${count}`).map((each) => each[what])), digits));
  const table = (title, what, digits) =>
    print(title, [
      ['', ...COUNTS.map((count) => (count === 1 ? 'one process' : `${count} processes`))],
      ...routes.map((route) => [ROUTES[route], ...cells(route, what, digits)]),
    ]);
  table('Requests per second', 'rate', 0);
  table('p99, milliseconds', 'p99', 1);
  table('CPU of the processes for a request, milliseconds', 'node', 3);
  table('CPU of PostgreSQL for a request, milliseconds', 'postgres', 3);
  const all = [...runs.values()].flat();
  if (!allSucceeded(all)) console.log(`\n!! ${statusText(all)}`);
  return allSucceeded(all) ? 0 : 1;
}

await run(benchmark);
