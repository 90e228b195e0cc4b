import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../src/embedded-postgres/free-port';
import { type Defer, Program, until } from './programs';

const GROUP = 'buckets';

/** Two Redis servers, one of which follows the other, and three Sentinels. */
export class RedisGroup {
  private readonly servers = new Map<number, Program>();
  private readonly sentinels: number[] = [];

  private constructor(
    private readonly folder: string,
    private readonly defer: Defer,
  ) {}

  static async start(folder: string, defer: Defer): Promise<RedisGroup> {
    const group = new RedisGroup(folder, defer);
    const [first, second] = [await freePort(), await freePort()];
    await group.startServer(first);
    await group.startServer(second, first);
    for (let i = 0; i < 3; i++) await group.startSentinel(first);
    await group.whole();
    return group;
  }

  /** What an API process is told. */
  get settings(): Record<string, string> {
    const sentinels = this.sentinels.map((port) => `127.0.0.1:${port}`).join(',');
    return { REDIS_URL: `redis://${GROUP}/0`, LANYARD_REDIS_SENTINELS: sentinels };
  }

  async master(): Promise<number> {
    const reply = await this.ask<string[]>(this.sentinels[0] ?? 0, 'sentinel', 'get-master-addr-by-name', GROUP);
    return Number(reply[1]);
  }

  /** Kills the master; returns its port. */
  async killMaster(): Promise<number> {
    const port = await this.master();
    await this.servers.get(port)?.end('SIGKILL');
    return port;
  }

  /** Resolves when so many processes take their tokens from a master other than the one that was killed. */
  async inUse(processes: number, killed: number): Promise<void> {
    await until('the API uses the new master', async () => {
      const port = await this.master();
      if (port === killed) return false;
      const clients = await this.ask<string>(port, 'client', 'list');
      return clients.split('\n').filter((line) => / cmd=eval(sha)? /.test(line)).length >= processes;
    });
  }

  /** Starts the one that was killed as a replica of the new master. */
  async startAgain(port: number): Promise<void> {
    await this.startServer(port, await this.master());
    await this.whole();
  }

  /** Until every Sentinel knows the others and a replica that it could appoint. */
  private async whole(): Promise<void> {
    await until('the sentinels know each other and the replica', async () => {
      for (const port of this.sentinels) {
        const replicas = await this.ask<string[][]>(port, 'sentinel', 'replicas', GROUP);
        const others = await this.ask<string[][]>(port, 'sentinel', 'sentinels', GROUP);
        const [replica = []] = replicas;
        const field = (name: string) => replica[replica.indexOf(name) + 1];
        if (field('flags') !== 'slave' || field('master-link-status') !== 'ok') return false;
        if (others.length !== this.sentinels.length - 1) return false;
      }
      return true;
    });
  }

  private async startServer(port: number, master?: number): Promise<void> {
    const follow = master ? ['--replicaof', `127.0.0.1 ${master}`] : [];
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...follow];
    this.servers.set(port, await this.program(options, /Ready to accept connections/));
  }

  private async startSentinel(master: number): Promise<void> {
    const port = await freePort();
    const file = join(this.folder, `sentinel-${port}.conf`);
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `sentinel monitor ${GROUP} 127.0.0.1 ${master} 2`,
      `sentinel down-after-milliseconds ${GROUP} 1000`,
      `sentinel failover-timeout ${GROUP} 3000`,
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    await this.program([file, '--sentinel'], /\+monitor master/);
    this.sentinels.push(port);
  }

  private async program(args: string[], sign: RegExp): Promise<Program> {
    const log = join(this.folder, 'redis.log');
    const program = await Program.start({ command: 'redis-server', args, sign, log, as: { cwd: '/' } });
    this.defer(() => program.end('SIGKILL'));
    return program;
  }

  private async ask<Reply>(port: number, command: string, ...args: string[]): Promise<Reply> {
    const redis = new Redis(port, { maxRetriesPerRequest: 0, retryStrategy: null, commandTimeout: 1000 });
    redis.on('error', () => undefined);
    try {
      return (await redis.call(command, ...args)) as Reply;
    } finally {
      redis.disconnect();
    }
  }
}
