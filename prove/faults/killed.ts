import { setTimeout as pause } from 'node:timers/promises';
import type { Api, Cluster } from './cluster';
import { until } from './daemon';
import { isAcknowledged } from './http';
import type { Load } from './load';
import type { Fault, Stage } from './stage';

/** Milliseconds until every process has stored something again. */
export async function untilWritten(load: Load, apis: Api[] = load.apis): Promise<number> {
  const started = performance.now();
  await Promise.all(
    apis.map((api) => until('a write succeeds', async () => isAcknowledged(await load.create('lead', api)))),
  );
  return performance.now() - started;
}

export const apiKilled: Fault = {
  name: 'api-killed',
  promise: 'API processes killed (-9) under writes',
  times: 200,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    await stage.load(cluster, { workers: 16, think: 5 });
    const recovered: number[] = [];
    const returning: Promise<void>[] = [];
    const ready = new Set(cluster.apis);
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.integer(50, 350));
      // One that serves is left, so that there is always something to kill.
      await until('two processes serve', () => ready.size > 1);
      const victim = stage.random.pick([...ready]);
      ready.delete(victim);
      await victim.kill();
      victim.launch();
      returning.push(victim.untilReady().then((took) => void (recovered.push(took), ready.add(victim))));
    }
    await Promise.all(returning);
    return { recovered, measured: `${stage.times} kills`, broken: [] };
  },
};

/** In turns: all of PostgreSQL at one moment, and one of its processes, after which it recovers by itself. */
async function killPostgres(cluster: Cluster, n: number): Promise<void> {
  const { postgres } = cluster;
  if (n % 2 === 1) {
    const starts = postgres.timesReady();
    await postgres.killOneBackend();
    await until('PostgreSQL has recovered', () => postgres.timesReady() > starts);
    return;
  }
  await postgres.killAll();
  await postgres.start();
}

export const postgresKilled: Fault = {
  name: 'postgres-killed',
  promise: 'PostgreSQL killed (-9) under writes',
  times: 50,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16 });
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.integer(200, 800));
      await killPostgres(cluster, n);
      await until('PostgreSQL accepts connections', () => cluster.postgres.accepts());
      recovered.push(await untilWritten(load));
    }
    const broken = Math.max(0, ...recovered) > 2000 ? ['more than 2 s until a write succeeded'] : [];
    return { recovered, measured: `${stage.times} kills`, broken };
  },
};

export const redisKilled: Fault = {
  name: 'redis-killed',
  promise: 'Redis killed (-9) under writes',
  times: 50,
  async play(stage: Stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16 });
    const recovered: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.integer(200, 800));
      await cluster.redis.kill();
      recovered.push(await untilWritten(load));
      await pause(stage.random.integer(0, 500));
      await cluster.redis.start();
    }
    const broken = load.serverErrors > 0 ? [`${load.serverErrors} answers of 5xx`] : [];
    return { recovered, measured: `${stage.times} kills, ${load.serverErrors} answers of 5xx`, broken };
  },
};
