import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { generateKey } from '../../../src/access/key-format';
import type { Api } from '../support/api';
import { ask } from '../support/ask';
import { memoryOf, until } from '../support/daemon';
import { percentile, seconds } from '../support/figures';
import type { Cluster } from './cluster';
import type { Load } from './load';
import type { Fault } from './stage';

/** A service is gone for longer than every timeout in the server. */
const OUTAGE_MS = 5_000;
const MAX_ERROR_MS = 2_100;
const MAX_RECOVERY_MS = 2_000;
const MAX_REDIS_P99_MS = 250;
const MAX_GROWTH_MIB = 100;

/** Takes a service away. @returns how to give it back */
type Outage = (cluster: Cluster) => Promise<() => Promise<unknown>>;

const postgresPaused: Outage = async ({ postgres }) => {
  postgres.toAll('SIGSTOP');
  return async () => postgres.toAll('SIGCONT');
};

const postgresGone: Outage = async ({ postgres }) => {
  await postgres.kill();
  return () => postgres.start();
};

const TAKER = 'taker';

/** Cuts the API's connections and takes each that PostgreSQL gives, until it has none left. */
const outOfConnections: Outage = async ({ postgres }) => {
  const taken: Client[] = [];
  const others = `select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and application_name <> '${TAKER}'`;
  const held = `select count(*) >= current_setting('max_connections')::integer as all from pg_stat_activity
    where application_name = '${TAKER}'`;
  await until('no connection is left', async () => {
    // At the same time, so that someone waits when a connection becomes free.
    const cut = taken[0]?.query(others);
    const clients = Array.from({ length: 20 }, () => {
      const client = new Client({ connectionString: postgres.url(), application_name: TAKER });
      client.on('error', () => undefined);
      return client;
    });
    const connected = await Promise.allSettled(clients.map((client) => client.connect()));
    await cut;
    taken.push(...clients.filter((_, n) => connected[n]?.status === 'fulfilled'));
    return (await taken[0]?.query<{ all: boolean }>(held))?.rows[0]?.all === true;
  });
  return () => Promise.all(taken.map((client) => client.end().catch(() => undefined)));
};

/** What was seen of one outage of PostgreSQL. */
interface Seen {
  slowestErrorMs: number;
  growthMib: number;
  recoveredMs: number;
  broken: string[];
}

async function watch(name: string, outage: Outage, cluster: Cluster, load: Load): Promise<Seen> {
  const { apis, postgres } = cluster;
  const memory = (): number => Math.max(...apis.map(({ pid }) => memoryOf(pid)));
  await pause(1_000);
  const before = memory();
  const begun = performance.now();
  const giveBack = await outage(cluster);
  const broken = await refusals(apis);
  await pause(Math.max(0, begun + OUTAGE_MS - performance.now()));
  const growthMib = memory() - before;
  await giveBack();
  await until('PostgreSQL accepts connections', () => postgres.accepts());
  const back = [...apis.map((api) => api.untilReady()), load.untilWritten()];
  const recoveredMs = Math.max(...(await Promise.all(back)));
  await pause(500);
  const errors = load.times.filter(({ sent, failed }) => failed && sent >= begun);
  const slowestErrorMs = errors.reduce((max, { tookMs }) => Math.max(max, tookMs), 0);
  if (slowestErrorMs > MAX_ERROR_MS) broken.push(`an error after ${seconds(slowestErrorMs)}`);
  if (recoveredMs > MAX_RECOVERY_MS) broken.push(`back after ${seconds(recoveredMs)}`);
  if (growthMib > MAX_GROWTH_MIB) broken.push(`${growthMib.toFixed(0)} MiB more`);
  return { slowestErrorMs, growthMib, recoveredMs, broken: broken.map((what) => `${name}: ${what}`) };
}

/** Load balancers learn of it, and a key that cannot be looked up is not called wrong. @returns what is broken */
async function refusals(apis: Api[]): Promise<string[]> {
  const broken: string[] = [];
  for (const api of apis) {
    const refusal = until('readiness is refused', async () => (await api.readiness()) === 503, 4_000);
    await refusal.catch((error: Error) => broken.push(error.message));
    const { status, error, tookMs } = await ask(api.port, { method: 'GET', path: '/api/v0/leads', key: generateKey() });
    if (status !== 500 && status !== 503) broken.push(`${status ?? error} to an unknown key`);
    if (tookMs > MAX_ERROR_MS) broken.push(`an answer to an unknown key after ${seconds(tookMs)}`);
  }
  return broken;
}

export const postgresAway: Fault = {
  name: 'postgres-away',
  promise: 'PostgreSQL paused, killed, out of connections',
  times: 3,
  async play(stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 80, thinkMs: 20 });
    const seen: Seen[] = [];
    for (let n = 0; n < stage.times; n++) {
      seen.push(await watch('paused', postgresPaused, cluster, load));
      seen.push(await watch('killed', postgresGone, cluster, load));
      seen.push(await watch('out of connections', outOfConnections, cluster, load));
    }
    const slowest = Math.max(...seen.map(({ slowestErrorMs }) => slowestErrorMs));
    const growth = Math.max(0, ...seen.map(({ growthMib }) => growthMib));
    return {
      recoveredMs: seen.map(({ recoveredMs }) => recoveredMs),
      measured: `${seen.length} times; the slowest error after ${seconds(slowest)}; at most ${growth.toFixed(0)} MiB more`,
      broken: seen.flatMap(({ broken }) => broken),
    };
  },
};

const REDIS_OUTAGES: Outage[] = [
  async ({ redis }) => {
    await redis.kill();
    return () => redis.start();
  },
  async ({ redis }) => {
    redis.signal('SIGSTOP');
    return async () => redis.signal('SIGCONT');
  },
  async ({ redis }) => {
    for (let n = 0; n < 10; n++) {
      await redis.command('SCRIPT', 'FLUSH');
      await pause(100);
    }
    return async () => undefined;
  },
];

export const redisAway: Fault = {
  name: 'redis-away',
  promise: 'Redis killed, stopped and flushed under load',
  times: 3,
  async play(stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16, thinkMs: 10 });
    const tookMs: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      for (const outage of REDIS_OUTAGES) {
        await pause(1_000);
        const first = load.times.length;
        const giveBack = await outage(cluster);
        await pause(OUTAGE_MS / 2);
        await giveBack();
        await pause(1_500);
        tookMs.push(...load.times.slice(first).map((each) => each.tookMs));
      }
    }
    const p99 = percentile(tookMs, 0.99);
    const { serverErrors } = load.answers;
    const broken = [
      ...(p99 > MAX_REDIS_P99_MS ? [`p99 ${p99.toFixed(0)} ms`] : []),
      ...(serverErrors > 0 ? [`${serverErrors} answers of 5xx`] : []),
    ];
    const times = REDIS_OUTAGES.length * stage.times;
    return { measured: `${times} times: ${serverErrors} responses of 5xx, p99 ${p99.toFixed(0)} ms`, broken };
  },
};
