// npm run bench compare: Lanyard beside a minimal server on the same data, interleaved. README.md tells how to read it.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import {
  allSucceeded,
  answerOf,
  cpuMeter,
  fixed,
  load,
  LOAD_OPTIONS,
  median,
  memoryMeter,
  print,
  settle,
  statusText,
} from './load.mjs';
import { fillOrganizations, requestsOf, ROUTES, routesOf } from './routes.mjs';
import { LANYARD, readOptions, run, startServer, startServices } from '../../scripts/services.mjs';

const options = readOptions({
  ...LOAD_OPTIONS,
  leads: { type: 'string', default: '20000' },
  'industry-events': { type: 'string', default: '5000' },
  routes: { type: 'string', default: Object.keys(ROUTES).join() },
  profile: { type: 'string' },
});
const { leads, connections } = options;
const routes = routesOf(options);

const MINIMAL = [fileURLToPath(new URL('minimal-server.mjs', import.meta.url))];

/** The first answers must be the same, but for what a server makes up. @returns bytes of the first */
async function compareAnswers(route, servers) {
  const parsed = ({ text }) => JSON.parse(text, (name, value) => (route === 'create' && isMadeUp(name) ? null : value));
  let bytes;
  for (const n of servers[0].requests[route].slice(0, 5).keys()) {
    const answers = [];
    for (const { url, requests } of servers) answers.push(await answerOf(url, requests[route][n]));
    if (answers.some(({ status }) => status !== 200) || !isDeepStrictEqual(...answers.map(parsed))) {
      const both = answers.map(({ status, text }) => `${status} ${text}`).join('\n');
      throw new Error(`${ROUTES[route]}: the answers differ\n${both}`);
    }
    bytes ??= Buffer.byteLength(answers[0].text);
  }
  return bytes;
}
const isMadeUp = (name) => name === 'id' || name === 'createdAt';

async function benchmark(defer) {
  const services = await startServices(options, defer);
  const { pool } = services;
  const size = { leads, industryEvents: options['industry-events'] };
  const { main, writer, keys } = await fillOrganizations(services, size);
  const flags = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${resolve(options.profile)}`] : [];
  const servers = [
    await startServer(services, LANYARD, { flags }),
    await startServer(services, MINIMAL, { settings: { KEYS: keys } }),
  ].map((server) => ({ ...server, requests: requestsOf(server.url, leads, main, writer) }));

  const bytes = {};
  for (const route of routes) bytes[route] = await compareAnswers(route, servers);
  const cpu = await cpuMeter(services);
  const measure = async ({ url, pid, requests }, route, duration) => {
    await settle(pool);
    const before = await cpu(pid);
    const memory = memoryMeter(pid);
    const measured = await load({ url, requests: requests[route], connections, seconds: duration });
    const resident = memory();
    const after = await cpu(pid);
    const cost = Object.entries(after).map(([name, time]) => [name, (time - before[name]) / measured.count]);
    return { ...measured, ...resident, ...Object.fromEntries(cost) };
  };

  const results = Object.fromEntries(routes.map((route) => [route, [[], []]]));
  for (const route of routes) for (const server of servers) await measure(server, route, 1);
  for (let round = 0; round < options.rounds; round++) {
    console.error(`Round ${round + 1} of ${options.rounds} …`);
    await pool.query('vacuum analyze');
    for (const route of routes) {
      // What comes second finds warmer caches: they take turns.
      for (const at of round % 2 ? [1, 0] : [0, 1])
        results[route][at].push(await measure(servers[at], route, options.seconds));
    }
  }
  report(results, bytes);
  return Object.values(results).flat().every(allSucceeded) ? 0 : 1;
}

function report(results, bytes) {
  const of = (runs, name) => median(runs.map((measured) => measured[name]));
  const ratio = ([ours, theirs], name) => fixed(median(ours.map((measured, n) => measured[name] / theirs[n][name])), 2);
  const each = (both, name, digits) => both.map((runs) => fixed(of(runs, name), digits));
  const table = (title, head, row) =>
    print(title, [['route', ...head], ...routes.map((route) => [ROUTES[route], ...row(results[route], route)])]);
  table('Requests a second', ['Lanyard', 'minimal', 'ratio', 'bytes'], (both, route) => [
    ...each(both, 'rate', 0),
    ratio(both, 'rate'),
    String(bytes[route]),
  ]);
  const latencies = ['p50', 'p99'].flatMap((name) => [`Lanyard ${name}`, `minimal ${name}`, 'ratio']);
  table('Latency, milliseconds', latencies, (both) =>
    ['p50', 'p99'].flatMap((name) => [...each(both, name, 2), ratio(both, name)]),
  );
  const processes = ['node', 'postgres', 'redis'];
  const heads = processes.flatMap((name) => [`Lanyard ${name}`, `minimal ${name}`]);
  table('CPU milliseconds a request', heads, (both) => processes.flatMap((name) => each(both, name, 3)));
  const most = (runs) => fixed(Math.max(...runs.map(({ mostMemory }) => mostMemory)), 0);
  table('Resident memory, MiB', ['Lanyard', 'at most', 'minimal', 'at most'], (both) =>
    both.flatMap((runs) => [fixed(of(runs, 'memory'), 0), most(runs)]),
  );
  table('Answers by status', ['Lanyard', 'minimal'], (both) => both.map(statusText));
}

await run(benchmark);
