import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { promisify } from 'node:util';
import { Daemon, until } from './daemon';

const run = promisify(execFile);

/** A Redis of a proof's or a suite's own, without persistence: it comes back empty. */
export class RedisServer extends Daemon {
  constructor(
    logFile: string,
    readonly port: number,
  ) {
    super(logFile);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(...options: string[]): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    await this.serve([...own, ...options]);
  }

  /** Runs it with other parameters, for a Sentinel. */
  async serve(parameters: string[]): Promise<void> {
    this.run('redis-server', parameters, { cwd: '/' });
    try {
      // In production it has a processor when it needs one; here it shares two cores with all its clients.
      setPriority(this.pid, constants.priority.PRIORITY_HIGHEST);
    } catch {
      // Only root may do this.
    }
    await until('Redis starts', async () => (await this.command('PING')).includes('PONG'));
  }

  /** @returns what redis-cli prints; nothing when there was no answer */
  async command(...words: string[]): Promise<string> {
    const asked = run('redis-cli', ['-p', String(this.port), ...words], { timeout: 2000 });
    return asked.then(({ stdout }) => stdout).catch(() => '');
  }
}
