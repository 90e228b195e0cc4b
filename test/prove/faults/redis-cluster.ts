import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type Tally } from '../support/ask';
import { percentile } from '../support/figures';
import { RedisCluster } from '../support/redis-cluster';
import type { Cluster, Tenant } from './cluster';
import type { Fault } from './stage';

const PROCESSES = 2;
/** So many that each master has the buckets of some. */
const KEYS = 24;
/** A bucket that hardly refills, so that what is admitted beyond it is seen. */
const BUCKET = { maxTokens: 20, refillRate: 0.001 };
const MAX_P99_MS = 250;
/** Requests of one key follow each other so fast. */
const THINK_MS = 10;

interface Seen {
  /** the most that one key was admitted beyond its bucket */
  extra: number;
  tookMs: number[];
}

/** Clients empty the buckets of new keys on all processes until the work is done. */
async function watch(cluster: Cluster, answers: Tally, work: (keys: Tenant[]) => Promise<unknown>): Promise<Seen> {
  const keys = await cluster.tenants(KEYS, BUCKET);
  const tookMs: number[] = [];
  let isDone = false;
  const clients = keys.map(async ({ key }, nth) => {
    let admitted = 0;
    for (let n = nth; !isDone; n++) {
      const { port } = cluster.apis[n % PROCESSES]!;
      const answer = await ask(port, { method: 'GET', path: '/api/v0/tagGroups', key });
      answers.add(answer);
      tookMs.push(answer.tookMs);
      if (answer.status === 200) admitted++;
      await pause(THINK_MS);
    }
    return admitted;
  });
  await work(keys).finally(() => {
    isDone = true;
  });
  return { extra: Math.max(...(await Promise.all(clients))) - BUCKET.maxTokens, tookMs };
}

export const redisCluster: Fault = {
  name: 'redis-cluster',
  promise: 'a Redis cluster whose masters are killed and slots moved under load',
  times: 3,
  async play(stage) {
    const redis = new RedisCluster(stage.directory, join(stage.directory, 'redis.log'));
    stage.defer(() => redis.stop());
    await redis.start();
    const cluster = await stage.cluster({ apis: PROCESSES, settings: { REDIS_URL: redis.url } });
    const resharded: Seen[] = [];
    const killed: Seen[] = [];
    for (let n = 0; n < stage.times; n++) {
      const move = async ([first]: Tenant[]): Promise<void> => {
        await redis.moveSlotOf(first!.keyId);
        await redis.reshard(2000);
      };
      resharded.push(await watch(cluster, stage.answers, move));
      const kill = async ([first]: Tenant[]): Promise<void> => {
        await pause(500);
        const master = await redis.masterOf(first!.keyId);
        await master.kill();
        await redis.untilReplaced(master);
        await pause(2000);
        await redis.startAgain(master);
      };
      killed.push(await watch(cluster, stage.answers, kill));
    }
    const extraOf = (seen: Seen[]): number => Math.max(0, ...seen.map(({ extra }) => extra));
    const p99Of = (seen: Seen[]): number =>
      percentile(
        seen.flatMap(({ tookMs }) => tookMs),
        0.99,
      );
    const [p99Moved, p99Killed] = [p99Of(resharded), p99Of(killed)];
    const p99 = Math.max(p99Moved, p99Killed);
    const others = stage.answers.countOf((what) => what !== '200' && what !== '429');
    const broken = [
      ...(p99 > MAX_P99_MS ? [`p99 ${p99.toFixed(0)} ms`] : []),
      ...(others > 0 ? [`${others} other answers`] : []),
      ...(extraOf(resharded) > 0 ? ['more than a bucket while slots were moved'] : []),
      ...(extraOf(killed) > PROCESSES * BUCKET.maxTokens ? ['more than one bucket extra for each process'] : []),
    ];
    const measured =
      `${stage.times} times each, ${stage.answers.total} requests of ${KEYS} keys on ${PROCESSES} processes: ` +
      `${stage.answers.serverErrors} responses of 5xx; p99 ${p99Moved.toFixed(0)} ms while slots were moved, ` +
      `${p99Killed.toFixed(0)} ms around a kill; admitted beyond a bucket of ${BUCKET.maxTokens}: at most ` +
      `${extraOf(resharded)} and ${extraOf(killed)}`;
    return { measured, broken };
  },
};
