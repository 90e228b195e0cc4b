import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { Address } from '../config';

/** How long a request, and a shutdown, waits for Redis. */
const DEADLINE_MS = 100;
/** How long a request waits for its reply while Redis answers other commands. */
const MAX_WAIT_MS = 1_000;
/** How long each command of a connection's own handshake may take. */
const HANDSHAKE_TIMEOUT_MS = 1_000;

/**
 * A connection that fails fast: a command is sent at once, once, or not at all. By ioredis's defaults a stopped Redis
 * holds requests for over 8 s, a killed one for 10–25 s, and a lost reply is asked for again, which charges two tokens.
 *
 * Commands of one turn of the event loop leave together: a system call costs more than the command, here and in Redis.
 * (ioredis's own pipelining does so too, at a price in promises that eats up the gain.)
 */
export class RedisConnection extends Redis {
  /** why there is no connection that can be used */
  failure?: Error;
  /** when Redis last said something, by the clock of `performance.now()` */
  private heardAt = -Infinity;
  private isCorked = false;

  /**
   * @param url as in `redis://host:6379/0`
   * @param sentinels asked, at each attempt to connect, for the master of the group that `url` names in place of the host
   */
  constructor(url: string, sentinels?: readonly Address[]) {
    super(url, {
      ...(sentinels && { sentinels: [...sentinels], name: new URL(url).hostname, sentinelCommandTimeout: 1_000 }),
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 1_000,
      disconnectTimeout: DEADLINE_MS,
      retryStrategy: (attempts) => Math.min(attempts * 50, 1_000),
      // As above, for a round of sentinels none of which answered.
      sentinelRetryStrategy: (attempts) => Math.min(attempts * 50, 1_000),
    });
    // Without a listener ioredis prints every attempt to reconnect. The token buckets log what matters, once.
    this.on('error', (error: Error) => (this.failure = error));
    this.on('ready', () => (this.failure = undefined));
    this.on('connect', () => this.stream.on('data', () => (this.heardAt = performance.now())));
  }

  /** Waits for the connection, so that the first requests find it; a second at most, and no error, if it does not answer. */
  async untilReady(): Promise<void> {
    if (this.status === 'ready') return;
    await once(this, 'ready', { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  }

  /** Closes the connection, after the commands under way if Redis answers, and ends the attempts to reconnect. */
  async close(): Promise<void> {
    if (this.status === 'ready') await this.withDeadline(this.quit()).catch(() => undefined);
    this.disconnect();
  }

  /**
   * A reply of Redis, with a time limit. Unlike ioredis's `commandTimeout` it blames Redis only for its own delay. Commands
   * leave at the end of a turn of the event loop, so the time counts from there. When this process was busy past the limit,
   * timers run before the replies that wait in the socket are read, so the limit is checked again after they were. While
   * Redis answers other commands it is busy, and not unreachable.
   *
   * @throws Error `No response within 100 ms`
   */
  withDeadline<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let sentAt = 0;
      const wait = (time: number) => (timer = setTimeout(() => setImmediate(look), time));
      const look = () => {
        const now = performance.now();
        const silence = now - Math.max(sentAt, this.heardAt);
        if (silence >= DEADLINE_MS - 1 || now - sentAt >= MAX_WAIT_MS) {
          reject(new Error(`No response within ${DEADLINE_MS} ms`));
        } else if (timer) wait(DEADLINE_MS - silence);
      };
      const sent = setImmediate(() => {
        sentAt = performance.now();
        wait(DEADLINE_MS);
      });
      const stop = () => {
        clearImmediate(sent);
        clearTimeout(timer);
        timer = undefined;
      };
      reply.then(
        (value) => {
          stop();
          resolve(value);
        },
        (error: Error) => {
          stop();
          reject(error);
        },
      );
    });
  }

  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    // ioredis deletes the timer from each command that it has timed, which makes V8 rebuild the object as a dictionary.
    // Requests use withDeadline instead.
    this.options.commandTimeout = this.status === 'ready' ? undefined : HANDSHAKE_TIMEOUT_MS;
    if (this.stream && !this.isCorked) this.cork();
    return super.sendCommand(...command);
  }

  private cork(): void {
    const { stream } = this;
    this.isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }
}
