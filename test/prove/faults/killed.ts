import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../support/api';
import { until } from '../support/daemon';
import { formatCount, seconds } from '../support/figures';
import type { Fault } from './stage';

/** Processes that are killed, or asked to end. */

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
    return { recoveredMs, measured: `${stage.times} kills, ${serverErrors} responses of 5xx`, broken };
  },
};

const MAX_EXIT_MS = 10_000;

/** Ends a process as an orchestrator does, and starts it again. @returns milliseconds until it had ended */
async function terminate(api: Api, broken: string[]): Promise<number> {
  const begun = performance.now();
  api.signal('SIGTERM');
  const timer = setTimeout(() => api.signal('SIGKILL'), MAX_EXIT_MS);
  const status = await api.exited;
  clearTimeout(timer);
  const tookMs = performance.now() - begun;
  if (status !== 0) broken.push(`exit status ${status} after ${seconds(tookMs)}`);
  await api.start();
  return tookMs;
}

export const sigterm: Fault = {
  name: 'sigterm',
  promise: 'SIGTERM under load',
  times: 20,
  async play(stage) {
    const cluster = await stage.cluster({ apis: 1 });
    const load = await stage.load(cluster, { workers: 32, thinkMs: 5 });
    const broken: string[] = [];
    let slowestMs = 0;
    for (let n = 0; n < stage.times; n++) {
      await pause(stage.random.between(300, 800));
      slowestMs = Math.max(slowestMs, await terminate(cluster.apis[0] as Api, broken));
    }
    await load.stop();
    // A refused connection was not accepted; everything else must have been answered by the API itself.
    const accepted = load.answers.countOf((what) => what !== 'ECONNREFUSED');
    const lost = accepted - load.answers.countOf((what) => /^[24]\d\d$/.test(what));
    if (lost > 0) broken.push(`${lost} requests lost`);
    const measured =
      `${stage.times} times: ${lost} accepted requests lost of ${formatCount(accepted)}, ` +
      `ended after at most ${seconds(slowestMs)}`;
    return { measured, broken, slowestMs };
  },
};
