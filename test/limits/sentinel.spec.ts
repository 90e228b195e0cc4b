import { Redis } from 'ioredis';
import { until } from '../support/embedded-fixtures';
import { type InProcess, startInProcess } from '../support/lanyard';
import { NO_SERVER, RedisServer, unless } from '../support/redis-server';

unless(NO_SERVER)(`a Redis with a replica and a sentinel${NO_SERVER}`, () => {
  let master: RedisServer;
  let replica: RedisServer;
  let sentinel: RedisServer;
  let follower: Redis;
  let server: InProcess;

  beforeAll(async () => {
    const auth = ['--requirepass', 'sesame', '--masterauth', 'sesame'];
    master = await RedisServer.start(...auth);
    replica = await RedisServer.start(...auth, '--replicaof', `127.0.0.1 ${master.port}`);
    follower = new Redis(replica.port, { password: 'sesame' });
    await until(async () => (await follower.info('replication')).includes('master_link_status:up'));
    sentinel = await RedisServer.startSentinel(master, 'buckets', 'sesame');
    server = await startInProcess({
      redisUrl: 'redis://:sesame@buckets/0',
      // One that is down costs nothing but the attempt.
      redisSentinels: [{ host: '127.0.0.1', port: sentinel.port }],
    });
  });
  afterAll(async () => {
    await server.stop();
    follower.disconnect();
    for (const one of [sentinel, replica, master]) await one.kill();
  });

  it('fails over: every request is answered meanwhile, and the buckets go on in the new master', async () => {
    const { api, issueKey } = await server.tenant();
    const limited = await issueKey({ maxTokens: 3, refillRate: 0.001 });
    for (const status of [200, 200, 200, 429]) await limited.api.get('/tagGroups').expect(status);
    // Sent on by the master after its answer.
    await until(async () => (await follower.hget(`rl:v1:${limited.id}`, 'max')) !== null);
    expect(await takesIn(follower)).toBe(0);
    // A sentinel that has not heard of the replica yet has nobody to appoint.
    const watcher = new Redis(sentinel.port);
    await until(async () => ((await watcher.call('sentinel', 'replicas', 'buckets')) as string[]).length > 0);
    watcher.disconnect();

    await master.kill();
    await until(async () => {
      await api.get('/tagGroups').expect(200);
      return (await takesIn(follower)) > 0;
    });
    expect(await follower.role()).toContain('master');
    await limited.api.get('/tagGroups').expect(429);
  });
});

/** How often this Redis was itself asked for a token; what it only copies from its master does not count. */
async function takesIn(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
