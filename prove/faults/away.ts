import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { newKey } from '../../src/access/key-format';
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
  postgres.pauseAll();
  return async () => postgres.resumeAll();
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

/** What was seen while PostgreSQL was gone, and after. */
class Outages {
  slowestErrorMs = 0;
  growthMib = 0;
  readonly recoveredMs: number[] = [];
  readonly broken: string[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly load: Load,
  ) {}

  async play(name: string, outage: Outage): Promise<void> {
    const { apis, postgres } = this.cluster;
    const memory = (): number => Math.max(...apis.map(({ pid }) => memoryOf(pid)));
    const expect = (holds: boolean, what: string): void => void (holds || this.broken.push(`${name}: ${what}`));
    await pause(1_000);
    const before = memory();
    const begun = performance.now();
    const giveBack = await outage(this.cluster);
    await this.refuses(expect);
    await pause(Math.max(0, begun + OUTAGE_MS - performance.now()));
    const growthMib = memory() - before;
    await giveBack();
    await until('PostgreSQL accepts connections', () => postgres.accepts());
    const back = [...apis.map((api) => api.untilReady()), this.load.untilWritten()];
    const recoveredMs = Math.max(...(await Promise.all(back)));
    await pause(500);
    const errors = this.load.times.filter(({ sent, failed }) => failed && sent >= begun);
    const slowestMs = errors.reduce((max, { tookMs }) => Math.max(max, tookMs), 0);
    expect(slowestMs <= MAX_ERROR_MS, `an error after ${seconds(slowestMs)}`);
    expect(recoveredMs <= MAX_RECOVERY_MS, `back after ${seconds(recoveredMs)}`);
    expect(growthMib <= MAX_GROWTH_MIB, `${growthMib.toFixed(0)} MiB more`);
    this.slowestErrorMs = Math.max(this.slowestErrorMs, slowestMs);
    this.growthMib = Math.max(this.growthMib, growthMib);
    this.recoveredMs.push(recoveredMs);
  }

  /** Load balancers learn of it, and a key that cannot be looked up is not called wrong. */
  private async refuses(expect: (holds: boolean, what: string) => void): Promise<void> {
    for (const api of this.cluster.apis) {
      const refusal = until('readiness is refused', async () => (await api.readiness()) === 503, 4_000);
      await refusal.catch((error: Error) => expect(false, error.message));
    }
    const asked = this.cluster.apis.map(({ port }) =>
      ask(port, { method: 'GET', path: '/api/v0/leads', key: newKey() }),
    );
    for (const { status, error, tookMs } of await Promise.all(asked)) {
      expect(status === 500 || status === 503, `${status ?? error} to an unknown key`);
      expect(tookMs <= MAX_ERROR_MS, `an answer to an unknown key after ${seconds(tookMs)}`);
    }
  }
}

export const postgresAway: Fault = {
  name: 'postgres-away',
  promise: 'PostgreSQL paused, killed, out of connections',
  times: 3,
  async play(stage) {
    const cluster = await stage.cluster();
    const outages = new Outages(cluster, await stage.load(cluster, { workers: 80, thinkMs: 20 }));
    for (let n = 0; n < stage.times; n++) {
      await outages.play('paused', postgresPaused);
      await outages.play('killed', postgresGone);
      await outages.play('out of connections', outOfConnections);
    }
    const { slowestErrorMs, growthMib, recoveredMs, broken } = outages;
    const measured =
      `${3 * stage.times} times; the slowest error after ${seconds(slowestErrorMs)}; ` +
      `at most ${growthMib.toFixed(0)} MiB more`;
    return { recoveredMs, measured, broken };
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
    return { measured: `${times} times: ${serverErrors} answers of 5xx, p99 ${p99.toFixed(0)} ms`, broken };
  },
};
