// npm run bench audit: what does the audit log cost a POST, a PATCH and an import? Two Lanyards, of which one keeps none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { dataset } from './dataset.mjs';
import { allSucceeded, cpuMeter, fixed, load, median, print, settle, statusText } from './load.mjs';
import { fillOrganizations, requestsOf, ROUTES } from './routes.mjs';
import {
  LANYARD,
  makeOrganization,
  OPERATOR,
  readOptions,
  run,
  startServer,
  startServices,
} from '../../scripts/services.mjs';

const options = readOptions({
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '10' },
  leads: { type: 'string', default: '20000' },
  measured: { type: 'string', default: 'create,patch,import' },
});
const { rounds, seconds, connections, leads } = options;
const IMPORTED = leads / 4;
const MEASURED = options.measured.split(',');
/** Slices of a round, so that both sides meet the same weather. */
const SLICES = 8;
/** The most that the audit log may cost. */
const LIMIT = 0.05;

/** @param setting that of the server and of the imports */
async function startSide(setting, defer) {
  const services = await startServices(options, defer);
  Object.assign(services.environment, setting);
  const { main, writer } = await fillOrganizations(services, { leads, industryEvents: 100 });
  const { pid, url } = await startServer(services, LANYARD);
  const runs = Object.fromEntries(MEASURED.map((name) => [name, []]));
  return { services, pid, cpu: await cpuMeter(services), url, requests: requestsOf(url, leads, main, writer), runs };
}

async function loadRoute({ services, pid, cpu, url, requests }, route, duration) {
  await settle(services.pool);
  const before = await cpu(pid);
  const started = performance.now();
  const { count, statuses } = await load({ url, requests: requests[route], connections, seconds: duration });
  const elapsed = (performance.now() - started) / 1000;
  const after = await cpu(pid);
  return { count, elapsed, node: after.node - before.node, postgres: after.postgres - before.postgres, statuses };
}

function* linesOf(organization) {
  for (const record of dataset(organization, { leads: IMPORTED })) yield `${JSON.stringify(record)}\n`;
}

async function importLeads({ services, cpu }, round) {
  const { id } = await makeOrganization(services, `Import ${round}`);
  await services.pool.query('vacuum analyze');
  const child = spawn(process.execPath, [OPERATOR, 'import', '-', '--organization', String(id), '--json'], {
    env: { ...process.env, ...services.environment },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  services.defer(async () => child.kill());
  const [before, started] = [await cpu(), performance.now()];
  // The organizations 1 and 2 of the data set are those of the routes.
  Readable.from(linesOf(round + 3)).pipe(child.stdin);
  const [status] = await once(child, 'close');
  const elapsed = (performance.now() - started) / 1000;
  const postgres = (await cpu()).postgres - before.postgres;
  return { count: IMPORTED, elapsed, node: NaN, postgres, statuses: { [status === 0 ? 200 : status]: 1 } };
}

/** One measurement of several, as rates and costs. */
function summary(parts) {
  const sum = (what) => parts.reduce((all, part) => all + part[what], 0);
  const count = sum('count');
  const cost = { node: sum('node') / count, postgres: sum('postgres') / count };
  return {
    ...cost,
    rate: count / sum('elapsed'),
    count,
    statuses: Object.assign({}, ...parts.map((part) => part.statuses)),
  };
}

async function benchmark(defer) {
  const without = await startSide({ LANYARD_AUDIT_DAYS: '0' }, defer);
  const audited = await startSide({}, defer);
  let imports = 0;
  const measure = (side, name) =>
    name === 'import' ? importLeads(side, imports++) : loadRoute(side, name, seconds / SLICES);
  for (const route of MEASURED.filter((name) => name !== 'import'))
    for (const side of [without, audited]) await loadRoute(side, route, 1);
  for (let round = 0; round < rounds; round++) {
    console.error(`Round ${round + 1} of ${rounds} …`);
    for (const name of MEASURED) {
      // Whatever else the machine does hits both: they take turns in slices, in the order A B B A.
      const parts = new Map([without, audited].map((side) => [side, []]));
      for (let slice = 0; slice < (name === 'import' ? 2 : SLICES); slice++) {
        for (const side of slice % 2 ? [audited, without] : [without, audited])
          parts.get(side).push(await measure(side, name));
      }
      for (const [side, measured] of parts) side.runs[name].push(summary(measured));
    }
  }
  const names = { ...ROUTES, import: 'leads imported' };
  const ratios = (name, what) => audited.runs[name].map((each, n) => each[what] / without.runs[name][n][what]);
  const middle = ({ runs }, name, what, digits) => fixed(median(runs[name].map((each) => each[what])), digits);
  const table = (title, what, digits) =>
    print(title, [
      ['', 'no audit log', 'audit log', 'ratio', 'lowest', 'highest'],
      ...Object.keys(audited.runs).map((name) => [
        names[name],
        middle(without, name, what, digits),
        middle(audited, name, what, digits),
        ...[median, (all) => Math.min(...all), (all) => Math.max(...all)].map((of) => fixed(of(ratios(name, what)), 3)),
      ]),
    ]);
  table('A second', 'rate', 0);
  table('CPU milliseconds of PostgreSQL', 'postgres', 3);
  table('CPU milliseconds of the server', 'node', 3);
  const all = [without, audited].flatMap(({ runs }) => Object.values(runs)).filter((runs) => !allSucceeded(runs));
  for (const runs of all) console.log(`Failed: ${statusText(runs)}`);
  const tooSlow = Object.keys(audited.runs).filter((name) => median(ratios(name, 'rate')) < 1 - LIMIT);
  if (tooSlow.length > 0) console.log(`\nThe audit log costs more than a twentieth: ${tooSlow.join(', ')}`);
  return all.length + tooSlow.length === 0 ? 0 : 1;
}

await run(benchmark);
