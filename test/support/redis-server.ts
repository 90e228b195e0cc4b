import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../src/embedded-postgres/free-port';

const HAS_SERVER = spawnSync('redis-server', ['--version']).status === 0;
export const NO_SERVER = HAS_SERVER ? '' : ' (skipped: no redis-server on the PATH)';
export const NO_REDIS =
  HAS_SERVER || process.env.REDIS_URL ? '' : ' (skipped: no redis-server on the PATH and no REDIS_URL)';

/** `describe`, or `describe.skip` when there is a reason: say the reason in the suite's name. */
export const unless = (reason: string) => (reason ? describe.skip : describe);

/** A Redis of a suite's own, which it may stop, kill and starve. */
export class RedisServer {
  private constructor(
    readonly port: number,
    private readonly options: readonly string[],
    private child: ChildProcess,
  ) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  static async start(...more: string[]): Promise<RedisServer> {
    const port = await freePort();
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...more];
    return new RedisServer(port, options, await RedisServer.spawn(options, 'Ready to accept connections'));
  }

  /** A new and empty one on the same port. */
  async startAgain(): Promise<void> {
    this.child = await RedisServer.spawn(this.options, 'Ready to accept connections');
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  private static async spawn(options: readonly string[], sign: string): Promise<ChildProcess> {
    const child = spawn('redis-server', options, { cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      if (String(chunk).includes(sign)) break;
    }
    child.stdout.resume();
    return child;
  }
}
