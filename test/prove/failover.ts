import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, refuse } from '../../scripts/services.mjs';
import type { Load } from './faults/load';
import { play } from './faults/play';
import { missingForPatroni, PatroniGroup } from './faults/patroni';
import { Postgres } from './faults/postgres';
import { WebhooksService } from '../../src/feed/webhooks/webhooks.service';
import { ApiClient } from '../support/client';
import { Receiver } from '../support/servers/receiver';
import { RedisGroup } from './faults/redis-group';
import type { Cluster, Tenant } from './faults/cluster';
import type { Fault, Stage } from './faults/stage';
import { type Answer, ask } from './support/ask';
import { leadInput } from '../support/builders';
import { until } from './support/daemon';
import { seconds } from './support/figures';

/**
 * Kills the primary of PostgreSQL, which has a synchronous standby, and the master of Redis, which has Sentinels. At the end
 * the primary is killed while its standby lags, and the standby is started without promotion: webhooks must notice.
 * With --patroni, the leader of three members of Patroni is killed instead, and nobody promotes another one by hand.
 */

const PROCESSES = 2;
/** Rounds of a result to publish. */
const FULL = 5;
/** After a failover, for errors that come late. */
const SETTLE_MS = 2000;
/** Leads that the lagging standby does not get. */
const LOST = 20;

/** What clients saw of one failover. */
interface Seen {
  /** until writes succeed on every process, or Redis is used by every process */
  tookMs: number;
  errors: number;
  slowestMs: number;
}

async function watch({ times }: Load, failOver: () => Promise<unknown>): Promise<Seen> {
  const [first, begun] = [times.length, performance.now()];
  await failOver();
  const tookMs = performance.now() - begun;
  await pause(SETTLE_MS);
  const since = times.slice(first);
  const slowestMs = Math.max(...since.map((each) => each.tookMs));
  return { tookMs, errors: since.filter(({ failed }) => failed).length, slowestMs };
}

/**
 * Kills the primary while its standby is not told of new changes, and starts the standby as if it were the primary.
 * @returns in how many records the copy of a webhook's receiver differs from the lists
 */
async function startUnpromoted(stage: Stage, cluster: Cluster, standby: Postgres, tenant: Tenant): Promise<number> {
  await standby.follow(cluster.postgres);
  const api = new ApiClient(`http://127.0.0.1:${cluster.apis[0]?.port}/api/v0`, tenant.key);
  const receiver = await new Receiver(api).listen();
  stage.defer(() => receiver.close());
  await cluster.asOperator((services) => services.get(WebhooksService).create(tenant.organizationId, receiver.url));
  const isComplete = async (): Promise<boolean> => (await receiver.copy.differences()).length === 0;
  await until('the webhook has everything', isComplete);
  await cluster.postgres.query(`alter system set synchronous_standby_names = ''`);
  await cluster.postgres.query('select pg_reload_conf()');
  await standby.stop();
  for (let n = 0; n < LOST; n++) await api.post('/leads', leadInput()).expect(200);
  await until('the webhook has what will be lost', isComplete);
  await cluster.postgres.kill();
  await standby.startUnpromoted();
  cluster.postgres = standby;
  cluster.proxy?.switchTo(standby.port);
  await until('writes succeed', async () => (await api.post('/leads', leadInput())).status === 200);
  await until('the webhook has a snapshot', isComplete).catch(() => undefined);
  return (await receiver.copy.differences()).length;
}

const failover: Fault = {
  name: 'failover',
  promise: 'failover of PostgreSQL and Redis under load',
  times: FULL,
  async play(stage) {
    const redis = new RedisGroup(stage.directory);
    stage.defer(() => redis.stop());
    await redis.start();
    // The one address of both PostgreSQL servers: what a proxy with a check is in production.
    const cluster = await stage.cluster({ apis: PROCESSES, settings: redis.settings, isProxied: true });
    let standby = await Postgres.make(join(stage.directory, 'standby'), join(stage.directory, 'standby.log'));
    stage.defer(() => standby.stop());
    await standby.follow(cluster.postgres);
    const load = await stage.load(cluster, { workers: 8, thinkMs: 15 });
    const [ofRedis, ofPostgres]: [Seen[], Seen[]] = [[], []];
    const changes = (query: string): Promise<Answer> =>
      ask(cluster.apis[0]?.port ?? 0, { method: 'GET', path: `/api/v0/changes?${query}`, key: load.tenants[0]?.key });
    /** cursors of the feed that another server than their own has answered */
    let answered = 0;
    for (let round = 0; round < stage.times; round++) {
      if (round > 0) await standby.follow(cluster.postgres);
      await load.untilWritten();
      await pause(SETTLE_MS);
      const killed = await redis.killMaster();
      ofRedis.push(await watch(load, () => redis.untilUsed(PROCESSES, killed)));
      await redis.startAgain(killed);
      const failOver = async (): Promise<void> => {
        await cluster.postgres.kill();
        await standby.promote();
        cluster.proxy?.switchTo(standby.port);
        [cluster.postgres, standby] = [standby, cluster.postgres];
        await load.untilWritten();
      };
      const { body } = await changes('since=now');
      ofPostgres.push(await watch(load, failOver));
      const { status } = await changes(`cursor=${(body?.results as { cursor: string }).cursor}`);
      if (status !== 410) answered++;
    }
    await load.stop();
    const differences = await startUnpromoted(stage, cluster, standby, load.tenants[0]!);
    const max = (seen: Seen[], of: 'tookMs' | 'slowestMs'): string =>
      seconds(Math.max(...seen.map((each) => each[of])));
    const errors = ofRedis.reduce((sum, each) => sum + each.errors, 0);
    const measured =
      `${stage.times} times each; Redis: ${errors} responses of 5xx, new master in use after at most ` +
      `${max(ofRedis, 'tookMs')}, slowest response ${max(ofRedis, 'slowestMs')}; PostgreSQL: writes succeed after at most ` +
      `${max(ofPostgres, 'tookMs')}, slowest response ${max(ofPostgres, 'slowestMs')}`;
    const broken = [
      ...(errors > 0 ? [`${errors} answers of 5xx`] : []),
      ...(answered > 0 ? [`${answered} cursors of the feed were not refused by the promoted standby`] : []),
      ...(differences > 0 ? [`${differences} records of a webhook's copy differ after a start without promotion`] : []),
    ];
    return { measured, broken };
  },
};

const patroni: Fault = {
  name: 'patroni',
  promise: 'failover of PostgreSQL by Patroni',
  times: FULL,
  async play(stage) {
    const group = await PatroniGroup.start(join(stage.directory, 'patroni'));
    stage.defer(() => group.stop());
    const cluster = await stage.clusterOn(group, { apis: PROCESSES });
    const load = await stage.load(cluster, { workers: 8, thinkMs: 15 });
    const seen: Seen[] = [];
    for (let round = 0; round < stage.times; round++) {
      await load.untilWritten();
      await pause(SETTLE_MS);
      const leader = await group.leader();
      const failOver = async (): Promise<void> => {
        await leader.kill();
        await load.untilWritten();
      };
      seen.push(await watch(load, failOver));
      await group.startAgain(leader);
    }
    await load.stop();
    const slowestMs = Math.max(...seen.map((each) => each.slowestMs));
    const tookMs = Math.max(...seen.map((each) => each.tookMs));
    const measured =
      `leader and its Patroni killed ${stage.times} times; longest time without writes ${seconds(tookMs)}, ` +
      `slowest response ${seconds(slowestMs)}`;
    return { measured, broken: [], slowestMs: tookMs };
  },
};

const options = readOptions({
  rounds: { type: 'string', default: String(FULL) },
  patroni: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
}) as { rounds: number; patroni: boolean; keep: boolean };
const missing = options.patroni && missingForPatroni();
if (missing) refuse(missing);
const fault = options.patroni ? patroni : failover;
void play(fault, options.rounds / FULL, Date.now() % 1_000_000, options.keep).then(({ kept }) => {
  process.exitCode = kept ? 0 : 1;
});
