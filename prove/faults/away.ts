import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { newKey } from '../../src/access/key-format';
import type { Cluster } from './cluster';
import { memoryOf, until } from './daemon';
import { ask } from './http';
import { untilWritten } from './killed';
import type { Load } from './load';
import type { Postgres } from './postgres';
import { seconds } from './report';
import type { Fault, Stage } from './stage';

/** Milliseconds for which a service is away: longer than every time limit in the server. */
const AWAY = 5_000;
/** Milliseconds that are promised. */
const ERRORS_WITHIN = 2_100;
const BACK_WITHIN = 2_000;
const P99_WITHIN = 250;
/** Megabytes by which a process may grow while requests fail. */
const GROWTH = 100;

/** Makes a service go away, and gives the way back. */
export type Trouble = (cluster: Cluster) => Promise<() => Promise<void>>;

const paused: Trouble = async ({ postgres }) => {
  postgres.pauseAll();
  return async () => postgres.resumeAll();
};

const killed: Trouble = async ({ postgres }) => {
  await postgres.killAll();
  return () => postgres.start();
};

const outOfConnections: Trouble = async ({ postgres }) => {
  const taken: Client[] = [];
  await takeConnections(postgres, taken);
  // Processes of the API are quick to take theirs again, and one that is just connecting has no name yet.
  await until('no connection is left', async () => {
    // At the same time, so that somebody stands at the door when it opens.
    const ended = taken[0]?.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and application_name <> '${TAKER}'`,
    );
    await Promise.all([ended, takeConnections(postgres, taken)]);
    const held = await taken[0]?.query<{ all: boolean }>(
      `select count(*) >= current_setting('max_connections')::integer as all from pg_stat_activity
        where application_name = '${TAKER}'`,
    );
    return held?.rows[0]?.all === true;
  });
  return async () => void (await Promise.all(taken.map((client) => client.end().catch(() => undefined))));
};

const AT_ONCE = 20;
const TAKER = 'taker';

/** As many connections as there are left. */
async function takeConnections(postgres: Postgres, taken: Client[]): Promise<void> {
  for (;;) {
    const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => takeConnection(postgres)));
    taken.push(...clients.filter((client) => client !== undefined));
    if (clients.includes(undefined)) return;
  }
}

async function takeConnection(postgres: Postgres): Promise<Client | undefined> {
  const client = new Client({ connectionString: postgres.url(), application_name: TAKER });
  client.on('error', () => undefined);
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

/** What was seen while PostgreSQL was away, and after. */
interface Seen {
  slowestError: number;
  growth: number;
  recovered: number[];
  broken: string[];
}

export const postgresAway: Fault = {
  name: 'postgres-away',
  promise: 'PostgreSQL paused, killed, out of connections',
  times: 3,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 80, think: 20 });
    const seen: Seen = { slowestError: 0, growth: 0, recovered: [], broken: [] };
    for (let n = 0; n < stage.times; n++) {
      for (const trouble of [paused, killed, outOfConnections]) await sendAway(cluster, load, trouble, seen);
    }
    const { slowestError, growth, recovered, broken } = seen;
    const measured = `${3 * stage.times} times; the slowest error after ${seconds(slowestError)}; at most ${growth.toFixed(0)} MB more`;
    return { recovered, measured, broken };
  },
};

/** PostgreSQL is away for a while, with clients at work. */
export async function sendAway(cluster: Cluster, load: Load, trouble: Trouble, seen: Seen): Promise<void> {
  await pause(1_000);
  const before = Math.max(...cluster.apis.map(({ pid }) => memoryOf(pid)));
  const gone = performance.now();
  const giveBack = await trouble(cluster);
  await refusesReadiness(cluster, trouble.name, seen);
  await pause(Math.max(0, gone + AWAY - performance.now()));
  const during = Math.max(...cluster.apis.map(({ pid }) => memoryOf(pid)));
  await giveBack();
  await until('PostgreSQL accepts connections', () => cluster.postgres.accepts());
  const [ready, written] = await Promise.all([
    Promise.all(cluster.apis.map((api) => api.untilReady())),
    untilWritten(load),
  ]);
  const back = Math.max(written, ...ready);
  await pause(500);
  const errors = load.times.filter(({ sent, failed }) => failed && sent >= gone);
  const slowest = errors.reduce((most, { took }) => Math.max(most, took), 0);
  seen.slowestError = Math.max(seen.slowestError, slowest);
  seen.growth = Math.max(seen.growth, during - before);
  seen.recovered.push(back);
  if (slowest > ERRORS_WITHIN) seen.broken.push(`${trouble.name}: an error after ${seconds(slowest)}`);
  if (back > BACK_WITHIN) seen.broken.push(`${trouble.name}: back after ${seconds(back)}`);
  if (during - before > GROWTH) seen.broken.push(`${trouble.name}: ${(during - before).toFixed(0)} MB more`);
}

/** Load balancers are told, and a key that nobody can look up is not called wrong. */
async function refusesReadiness({ apis }: Cluster, trouble: string, { broken }: Seen): Promise<void> {
  const away = Promise.all(
    apis.map((api) => until('readiness is refused', async () => (await api.readiness()) === 503, 4_000)),
  );
  await away.catch((error: Error) => broken.push(`${trouble}: ${error.message}`));
  const asked = apis.map(({ port }) => ask(port, { method: 'GET', path: '/api/v0/leads', key: newKey() }));
  for (const { status, error, took } of await Promise.all(asked)) {
    if (status !== 500) broken.push(`${trouble}: ${status ?? error} to an unknown key`);
    if (took > ERRORS_WITHIN) broken.push(`${trouble}: an answer to an unknown key after ${seconds(took)}`);
  }
}

export const redisAway: Fault = {
  name: 'redis-away',
  promise: 'Redis killed, stopped and flushed under load',
  times: 3,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16, think: 10 });
    const windows: [number, number][] = [];
    for (let n = 0; n < stage.times; n++) {
      for (const trouble of [redisKilled, redisStopped, scriptsFlushed]) {
        await pause(1_000);
        const gone = performance.now();
        const giveBack = await trouble(cluster);
        await pause(AWAY / 2);
        await giveBack();
        await pause(1_500);
        windows.push([gone, performance.now()]);
      }
    }
    const within = load.times.filter(({ sent }) => windows.some(([from, to]) => sent >= from && sent <= to));
    const took = within.map((each) => each.took).sort((a, b) => a - b);
    const p99 = took[Math.floor(took.length * 0.99)] ?? Infinity;
    const broken = [
      ...(p99 > P99_WITHIN ? [`p99 ${p99.toFixed(0)} ms`] : []),
      ...(load.serverErrors > 0 ? [`${load.serverErrors} answers of 5xx`] : []),
    ];
    const measured = `${windows.length} times: ${load.serverErrors} answers of 5xx, p99 ${p99.toFixed(0)} ms`;
    return { measured, broken };
  },
};

const redisKilled: Trouble = async ({ redis }) => {
  await redis.kill();
  return () => redis.start();
};

const redisStopped: Trouble = async ({ redis }) => {
  redis.signal('SIGSTOP');
  return async () => redis.signal('SIGCONT');
};

const scriptsFlushed: Trouble = async ({ redis }) => {
  for (let n = 0; n < 10; n++) {
    await redis.command('SCRIPT', 'FLUSH');
    await pause(100);
  }
  return async () => undefined;
};
