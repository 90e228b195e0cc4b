import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { Address } from '../config';

/** How long a request, and a shutdown, waits for Redis. */
const DEADLINE_MS = 100;
/** How long a request waits for its reply while Redis answers other commands. */
const MAX_WAIT_MS = 1_000;
/** How long each command of a connection's own handshake may take. */
const HANDSHAKE_TIMEOUT_MS = 1_000;

/** Commands that leave together. */
interface Batch {
  /** When they left, by the clock of `performance.now()`; Infinity before. */
  sentAt: number;
}

interface PendingReply {
  batch: Batch;
  reject: (error: Error) => void;
}

/**
 * A connection that fails fast: a command is sent at once, once, or not at all. By ioredis's defaults a stopped Redis
 * holds requests for over 8 s, a killed one for 10–25 s, and a lost reply is asked for again, which charges two tokens.
 *
 * Commands of one turn of the event loop leave together: a system call costs more than the command, here and in Redis.
 * (ioredis's own pipelining does so too, at a price in promises that eats up the gain.)
 */
export class RedisConnection extends Redis {
  /** Why there is no usable connection. */
  lastError?: Error;
  /** When Redis last sent something, by the clock of `performance.now()`. */
  private lastReplyAt = -Infinity;
  private isCorked = false;
  /** The commands of the present turn of the event loop. */
  private batch: Batch = { sentAt: Infinity };
  /** The replies that have a time limit, in the order of their commands. */
  private readonly pendingReplies = new Set<PendingReply>();
  /** Runs while a reply may be pending. */
  private timer?: NodeJS.Timeout;

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
    this.on('error', (error: Error) => (this.lastError = error));
    this.on('ready', () => (this.lastError = undefined));
    this.on('connect', () => this.stream.on('data', () => (this.lastReplyAt = performance.now())));
  }

  /** Waits for the connection, so that the first requests find it; a second at most, and no error, if it does not answer. */
  async waitUntilReady(): Promise<void> {
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
   * leave at the end of a turn of the event loop, so the time counts from there. While Redis answers other commands it is
   * busy, and not unreachable.
   *
   * @throws Error `No response within 100 ms`
   */
  withDeadline<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending: PendingReply = { batch: this.batch, reject };
      this.pendingReplies.add(pending);
      this.timer ??= this.checkIn(DEADLINE_MS);
      reply.then(
        (value) => {
          this.pendingReplies.delete(pending);
          resolve(value);
        },
        (error: Error) => {
          this.pendingReplies.delete(pending);
          reject(error);
        },
      );
    });
  }

  /**
   * One timer serves all replies: one for each costs 8 % of a request's CPU time. When this process was busy past the limit,
   * timers run before the replies that wait in the socket are read, hence the check in the next turn of the event loop.
   */
  private checkIn(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.checkDeadlines()), milliseconds).unref();
  }

  /** Rejects the replies that are overdue, and returns for the oldest of the others. */
  private checkDeadlines(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const pending of this.pendingReplies) {
      const { sentAt } = pending.batch;
      const silence = Math.max(0, now - Math.max(sentAt, this.lastReplyAt));
      if (silence < DEADLINE_MS - 1 && now - sentAt < MAX_WAIT_MS) {
        this.timer = this.checkIn(DEADLINE_MS - silence);
        return;
      }
      this.pendingReplies.delete(pending);
      pending.reject(new Error(`No response within ${DEADLINE_MS} ms`));
    }
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
    const batch: Batch = { sentAt: Infinity };
    this.batch = batch;
    this.isCorked = true;
    stream.cork();
    setImmediate(() => {
      this.isCorked = false;
      stream.uncork();
      batch.sentAt = performance.now();
    });
  }
}
