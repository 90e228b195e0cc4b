import { mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { TokenBucketStore } from '../../src/http/rate-limit/token-bucket.store';
import { RedisCluster } from '../prove/support/redis-cluster';
import { runAtEnd } from '../support/jest/at-the-end';
import { type InProcess, startInProcess, type Tenant } from '../support/lanyard';
import { NO_SERVER } from '../support/servers/redis-server';
import { describeUnless } from '../support/skipping';
import { waitUntil } from '../support/wait';

const BUCKET = 20;
/** So many that each master has some. */
const KEYS = 12;

describeUnless(NO_SERVER)(`two servers on a Redis cluster of three masters${NO_SERVER}`, () => {
  let cluster: RedisCluster;
  let servers: InProcess[];
  let tenant: Tenant;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-redis-'));
    runAtEnd(async () => rmSync(folder, { recursive: true, force: true }));
    cluster = new RedisCluster(folder, devNull);
    runAtEnd(() => cluster.stop());
    await cluster.start();
    const first = await startInProcess({ redisUrl: cluster.url });
    servers = [first, await startInProcess({ redisUrl: cluster.url, databaseUrl: first.config.databaseUrl })];
    tenant = await first.tenant();
  });

  const issueKeys = (): Promise<{ id: string; key: string }[]> =>
    Promise.all(Array.from({ length: KEYS }, () => tenant.issueKey({ maxTokens: BUCKET, refillRate: 0.001 })));

  /** How many requests each key was admitted on both servers, until the work is done and all keys are rejected. */
  async function admittedDuring(keys: { key: string }[], work: () => Promise<unknown>): Promise<number[]> {
    let isDone = false;
    const working = work().finally(() => {
      isDone = true;
    });
    const admitted = keys.map(async ({ key }, nth) => {
      let count = 0;
      for (let n = nth; ; n++) {
        const { status } = await servers[n % 2]!.client(key).get('/tagGroups');
        if (![200, 429].includes(status)) throw new Error(`status ${status}`);
        if (status === 200) count++;
        else if (isDone) return count;
      }
    });
    await working;
    return Promise.all(admitted);
  }

  it('share the buckets, which are on all masters', async () => {
    const keys = await issueKeys();
    expect(await admittedDuring(keys, async () => undefined)).toEqual(keys.map(() => BUCKET));
    const masters = await Promise.all(keys.map(({ id }) => cluster.masterOf(id)));
    expect(new Set(masters).size).toBe(3);
  });

  it('follow a bucket whose slot is moved, and lose none of it', async () => {
    const [{ id, key }] = (await issueKeys()) as [{ id: string; key: string }];
    const take = (n: number) => servers[n % 2]!.client(key).get('/tagGroups');
    for (let n = 0; n < 4; n++) await take(n).expect(200);
    const before = await cluster.masterOf(id);
    await cluster.moveSlotOf(id);
    expect(await cluster.masterOf(id)).not.toBe(before);
    const { headers } = await take(0).expect(200);
    expect(headers['x-ratelimit-remaining']).toBe(String(BUCKET - 5));
  });

  it('go on during a resharding', async () => {
    const keys = await issueKeys();
    expect(await admittedDuring(keys, () => cluster.reshard(1000))).toEqual(keys.map(() => BUCKET));
  });

  it('go on when a master is killed, and then use its replica', async () => {
    const keys = await issueKeys();
    const killed = await cluster.masterOf(keys[0]!.id);
    const admitted = await admittedDuring(keys, async () => {
      await killed.kill();
      await cluster.untilReplaced(killed);
    });
    // Meanwhile each server goes on with the bucket as it last saw it, or with a full one.
    for (const count of admitted) expect(count).toBeLessThanOrEqual((1 + servers.length) * BUCKET);
    // Each server finds the new master on its own.
    for (const { app } of servers) {
      const buckets = app.get(TokenBucketStore);
      const isUsed = async (): Promise<boolean> => {
        const before = buckets.degradedDecisions;
        for (const { id } of keys) await buckets.take(id, { maxTokens: BUCKET, refillRate: 0.001 });
        return buckets.degradedDecisions === before;
      };
      await waitUntil(isUsed);
    }
  });
});
