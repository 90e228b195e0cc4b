import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/daemon';
import type { Fault } from './stage';

const MAX_RECOVERY_MS = 2_000;

export const apiKilled: Fault = {
  name: 'api-killed',
  promise: 'API processes killed (-9) under writes',
  times: 200,
  async play(stage) {
    const cluster = await stage.cluster();
    await stage.load(cluster, { workers: 16, thinkMs: 5 });
    const recoveredMs: number[] = [];
    const returning: Promise<unknown>[] = [];
    const ready = new Set(cluster.apis);
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.between(50, 350));
      await until('two processes serve', () => ready.size > 1);
      const victim = stage.random.pick([...ready]);
      ready.delete(victim);
      await victim.kill();
      victim.launch();
      const back = victim.untilReady().then((tookMs) => {
        recoveredMs.push(tookMs);
        ready.add(victim);
      });
      back.catch(() => undefined); // awaited below
      returning.push(back);
    }
    await Promise.all(returning);
    return { recoveredMs, measured: `${stage.times} kills`, broken: [] };
  },
};

export const postgresKilled: Fault = {
  name: 'postgres-killed',
  promise: 'PostgreSQL killed (-9) under writes',
  times: 50,
  async play(stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16 });
    const recoveredMs: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.between(200, 800));
      await cluster.postgres.kill();
      await cluster.postgres.start();
      recoveredMs.push(await load.untilWritten());
    }
    const broken = Math.max(...recoveredMs) > MAX_RECOVERY_MS ? ['more than 2 s until a write succeeded'] : [];
    return { recoveredMs, measured: `${stage.times} kills`, broken };
  },
};

export const redisKilled: Fault = {
  name: 'redis-killed',
  promise: 'Redis killed (-9) under writes',
  times: 50,
  async play(stage) {
    const cluster = await stage.cluster();
    const load = await stage.load(cluster, { workers: 16 });
    const recoveredMs: number[] = [];
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.between(200, 800));
      await cluster.redis.kill();
      recoveredMs.push(await load.untilWritten());
      await pause(stage.random.between(0, 500));
      await cluster.redis.start();
    }
    const { serverErrors } = load.answers;
    const broken = serverErrors > 0 ? [`${serverErrors} answers of 5xx`] : [];
    return { recoveredMs, measured: `${stage.times} kills, ${serverErrors} answers of 5xx`, broken };
  },
};
