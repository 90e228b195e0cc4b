import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/servers/free-port';
import { until } from '../support/daemon';
import { RedisServer } from '../support/redis-server';

const GROUP = 'buckets';
const SENTINELS = 3;

const configuration = (port: number, master: number): string => `
port ${port}
bind 127.0.0.1
sentinel monitor ${GROUP} 127.0.0.1 ${master} 2
sentinel down-after-milliseconds ${GROUP} 1000
sentinel failover-timeout ${GROUP} 3000
`;

/** Two Redis servers, one of which follows the other, and three Sentinels. */
export class RedisGroup {
  private readonly servers: RedisServer[] = [];
  private readonly sentinels: RedisServer[] = [];

  constructor(private readonly folder: string) {}

  async start(): Promise<void> {
    const log = join(this.folder, 'redis.log');
    for (let n = 0; n < 2; n++) this.servers.push(new RedisServer(log, await freePort()));
    const [master, replica] = this.servers as [RedisServer, RedisServer];
    await master.start();
    await replica.start('--replicaof', `127.0.0.1 ${master.port}`);
    for (let n = 0; n < SENTINELS; n++) {
      const sentinel = new RedisServer(log, await freePort());
      this.sentinels.push(sentinel);
      const file = join(this.folder, `sentinel-${sentinel.port}.conf`);
      writeFileSync(file, configuration(sentinel.port, master.port));
      await sentinel.serve([file, '--sentinel']);
    }
    await this.untilWhole();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.servers, ...this.sentinels].map((each) => each.kill()));
  }

  /** What an API process is configured with. */
  get settings(): Record<string, string> {
    const sentinels = this.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return { REDIS_URL: `redis://${GROUP}/0`, LANYARD_REDIS_SENTINELS: sentinels };
  }

  /** @returns the master that was killed */
  async killMaster(): Promise<RedisServer> {
    const master = await this.master();
    await master.kill();
    return master;
  }

  /** Resolves when so many processes take their tokens from another master than the one that was killed. */
  async untilUsed(processes: number, killed: RedisServer): Promise<void> {
    const isUsed = async (): Promise<boolean> => {
      const master = await this.master();
      if (master === killed) return false;
      const clients = (await master.command('client', 'list')).split('\n');
      return clients.filter((line) => / cmd=eval(sha)? /.test(line)).length >= processes;
    };
    await until('the API uses the new master', isUsed);
  }

  /** Starts the one that was killed, as a replica of the new master. */
  async startAgain(killed: RedisServer): Promise<void> {
    await killed.start('--replicaof', `127.0.0.1 ${(await this.master()).port}`);
    await this.untilWhole();
  }

  private async master(): Promise<RedisServer> {
    const reply = await this.sentinels[0]?.command('sentinel', 'get-master-addr-by-name', GROUP);
    const port = Number(reply?.split('\n')[1]);
    const found = this.servers.find((server) => server.port === port);
    if (!found) throw new Error(`no master: ${reply}`);
    return found;
  }

  /** Until every Sentinel knows the others and a replica that it could promote. */
  private async untilWhole(): Promise<void> {
    const isWhole = async (sentinel: RedisServer): Promise<boolean> => {
      const replicas = await sentinel.command('sentinel', 'replicas', GROUP);
      const others = await sentinel.command('sentinel', 'sentinels', GROUP);
      const isFollowing = /^flags\nslave$/m.test(replicas) && /^master-link-status\nok$/m.test(replicas);
      return isFollowing && others.match(/^runid$/gm)?.length === SENTINELS - 1;
    };
    const all = async () => (await Promise.all(this.sentinels.map(isWhole))).every(Boolean);
    await until('the sentinels know each other and the replica', all);
  }
}
