// npm run bench garbage: what outlives a request, of Lanyard and of a bare NestJS beside it. README.md tells how to read it.
import { fileURLToPath } from 'node:url';
import { allSucceeded, fixed, load, LOAD_OPTIONS, median, print, settle, statusText } from './load.mjs';
import { fillOrganizations, requestsOf, ROUTES, routesOf } from './routes.mjs';
import { LANYARD, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  ...LOAD_OPTIONS,
  leads: { type: 'string', default: '5000' },
  routes: { type: 'string', default: 'lead,activity,patch,associate,create' },
});
const { leads, connections } = options;
const routes = routesOf(options);

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const [LANYARD_FLAGS, LANYARD_PROGRAM] = [LANYARD.slice(0, -1), LANYARD.slice(-1)];
const SERVERS = {
  Lanyard: LANYARD_PROGRAM,
  NestJS: [path('../../scripts/run-typescript.mjs'), path('nest-lean.ts')],
};

/** What V8 prints of a collection of young objects; from Node.js 26 on, as JSON. */
const SCAVENGE = /pause"?[=:]([\d.]+).*gc"?[=:]"?s\b.*[ "]promoted"?[=:](\d+).*new_space_survived"?[=:](\d+)/;

/** How many times as many kB a request of Lanyard may leave behind as one of the bare NestJS. */
const MAX_RATIO = 1.5;

/**
 * A request may always leave so many kB behind. Both servers promote next to nothing once V8 has compiled them; the rest is
 * what was in progress in two scavenges.
 */
const NEGLIGIBLE = 0.3;

/** Seconds of load before a route counts, until V8 has compiled it: other code promotes several kB of a request. */
const WARM_UP = 5;

/** A server that prints its collections. `collections()` gives those since the last call. */
async function startTraced(services, args, keys) {
  let output = '';
  const server = await startServer(services, args, {
    settings: { KEYS: keys },
    flags: [...LANYARD_FLAGS, '--trace-gc-nvp'],
    onOutput: (chunk) => (output += chunk),
  });
  const collections = () => {
    const lines = output.split('\n');
    output = lines.pop();
    const found = lines.map((line) => SCAVENGE.exec(line)).filter(Boolean);
    return found.map(([, pause, promoted, survived]) => ({
      pause: Number(pause),
      promoted: Number(promoted),
      survived: Number(survived),
    }));
  };
  return { ...server, collections };
}

async function benchmark(defer) {
  const services = await startServices(options, defer);
  const { main, writer, keys } = await fillOrganizations(services, { leads });
  const servers = [];
  for (const [name, args] of Object.entries(SERVERS)) {
    const server = await startTraced(services, args, keys);
    servers.push({ ...server, name, requests: requestsOf(server.url, leads, main, writer) });
  }

  const measure = async ({ url, requests, collections }, route, seconds) => {
    await settle(services.pool);
    collections();
    const loaded = await load({ url, requests: requests[route], connections, seconds });
    return { ...loaded, scavenges: collections() };
  };
  const results = Object.fromEntries(routes.map((route) => [route, servers.map(() => [])]));
  // What is compiled, cached and connected at first lives on, and is no request's.
  for (const route of routes) for (const server of servers) await measure(server, route, WARM_UP);
  for (let round = 0; round < options.rounds; round++) {
    console.error(`Round ${round + 1} of ${options.rounds} …`);
    for (const route of routes) {
      for (const [at, server] of servers.entries()) {
        results[route][at].push(await measure(server, route, options.seconds));
      }
    }
  }
  report(results);
  const excessive = routes.filter((route) => {
    const [lanyard, nest] = results[route].map((runs) => kilobytes(runs, 'promoted'));
    return !(lanyard <= Math.max(nest * MAX_RATIO, NEGLIGIBLE));
  });
  for (const route of excessive) {
    console.error(
      `${ROUTES[route]} promotes too much: more than ${MAX_RATIO} times that of NestJS, and ${NEGLIGIBLE} kB`,
    );
  }
  return excessive.length === 0 && Object.values(results).flat().every(allSucceeded) ? 0 : 1;
}

/** kB of a request, over all its runs. */
function kilobytes(runs, what) {
  const bytes = runs.flatMap(({ scavenges }) => scavenges).reduce((sum, scavenge) => sum + scavenge[what], 0);
  return bytes / 1000 / runs.reduce((sum, { count }) => sum + count, 0);
}

function report(results) {
  const names = Object.keys(SERVERS);
  const table = (title, cell) =>
    print(title, [['route', ...names], ...routes.map((route) => [ROUTES[route], ...results[route].map(cell)])]);
  const aRequest = (what) => (runs) => fixed(kilobytes(runs, what), 2);
  table('kB promoted by a request', aRequest('promoted'));
  table('kB that a scavenge copies, by a request', aRequest('survived'));
  table('Median scavenge, milliseconds', (runs) =>
    fixed(median(runs.flatMap(({ scavenges }) => scavenges.map(({ pause }) => pause))), 2),
  );
  table('Requests a second', (runs) => fixed(median(runs.map(({ rate }) => rate)), 0));
  table('p99, milliseconds', (runs) => fixed(median(runs.map(({ p99 }) => p99)), 2));
  table('Answers by status', statusText);
}

await run(benchmark);
