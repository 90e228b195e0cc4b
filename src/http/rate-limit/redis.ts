import { once } from 'node:events';
import { Redis } from 'ioredis';
import { LinkedList } from '../../data/database/linked-list';
import type { Address } from '../../config';

/** How long a request or a shutdown waits for Redis. */
const DEADLINE_MS = 100;
/** How long a request waits for its reply while Redis replies to other commands. */
const MAX_WAIT_MS = 1_000;
/** How long each command of a connection's own handshake may take. */
const HANDSHAKE_TIMEOUT_MS = 1_000;

/** Commands that are sent together. */
interface Batch {
  /** When the batch was sent, by the clock of `performance.now()`; Infinity before that. */
  sentAt: number;
}

interface PendingReply {
  batch: Batch;
  reject: (error: Error) => void;
}

/**
 * A connection that fails fast: a command is sent immediately and once, or not at all. With ioredis's defaults a stopped
 * Redis blocks requests for over 8 s, a killed one for 10–25 s, and a lost reply is requested again, which charges two
 * tokens.
 *
 * Commands of one turn of the event loop are sent together, because a system call costs more than the command, here and in
 * Redis. (ioredis's own pipelining does this, too, but its promises cost as much as it saves.)
 */
export class RedisConnection extends Redis {
  /** The reason why there is no usable connection. */
  lastError?: Error;
  /** When Redis last sent something, by the clock of `performance.now()`. */
  private lastReplyAt = -Infinity;
  private isCorked = false;
  /** The commands of the current turn of the event loop. */
  private batch: Batch = { sentAt: Infinity };
  /** The replies that have a time limit, in the order of their commands. */
  private readonly pendingReplies = new LinkedList<PendingReply>();
  /** The timer of the deadlines. It runs while a reply may be pending. */
  private timer?: NodeJS.Timeout;

  /**
   * @param url such as `redis://host:6379/0`
   * @param sentinels where to ask, at each attempt to connect, for the master of the group that `url` names in place of a
   *   host
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
      // The same delay applies after a round in which no sentinel responded.
      sentinelRetryStrategy: (attempts) => Math.min(attempts * 50, 1_000),
    });
    // Without a listener ioredis prints every attempt to reconnect. The token buckets log what matters, once.
    this.on('error', (error: Error) => {
      this.lastError = error;
    });
    this.on('ready', () => {
      this.lastError = undefined;
    });
    this.on('connect', () => {
      this.stream.on('data', () => {
        this.lastReplyAt = performance.now();
      });
    });
  }

  /** Waits up to a second for the connection, so that the first requests find it. It is no error if Redis does not respond. */
  async waitUntilReady(): Promise<void> {
    if (this.status === 'ready') return;
    await once(this, 'ready', { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  }

  /** Closes the connection, after the commands in progress if Redis responds, and stops reconnecting. */
  async close(): Promise<void> {
    if (this.status === 'ready') await this.withDeadline(this.quit()).catch(() => undefined);
    this.disconnect();
  }

  /**
   * Adds a time limit to a reply of Redis. Unlike ioredis's `commandTimeout` it blames Redis only for its own delay: time
   * counts from the end of the turn of the event loop, when commands are sent, and a Redis that replies to other commands is
   * busy rather than unreachable.
   *
   * @throws Error `No response within 100 ms`
   */
  withDeadline<T>(reply: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending = this.pendingReplies.add({ batch: this.batch, reject });
      this.timer ??= this.checkIn(DEADLINE_MS);
      reply.then(
        (value) => {
          this.pendingReplies.remove(pending);
          resolve(value);
        },
        (error: Error) => {
          this.pendingReplies.remove(pending);
          reject(error);
        },
      );
    });
  }

  /**
   * One timer serves all replies, because one per reply costs 8 % of a request's CPU time. If this process was busy past the
   * limit, timers run before the replies in the socket are read, so the check runs in the next turn of the event loop.
   */
  private checkIn(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.checkDeadlines()), milliseconds).unref();
  }

  /** Rejects the replies that are overdue, and schedules a check of the oldest remaining one. */
  private checkDeadlines(): void {
    this.timer = undefined;
    const now = performance.now();
    for (let pending = this.pendingReplies.first; pending; pending = this.pendingReplies.first) {
      const { sentAt } = pending.value.batch;
      const silence = Math.max(0, now - Math.max(sentAt, this.lastReplyAt));
      if (silence < DEADLINE_MS - 1 && now - sentAt < MAX_WAIT_MS) {
        this.timer = this.checkIn(DEADLINE_MS - silence);
        return;
      }
      this.pendingReplies.remove(pending);
      pending.value.reject(new Error(`No response within ${DEADLINE_MS} ms`));
    }
  }

  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    // A command that ioredis times becomes slow to read (docs/decisions/0019), so requests use withDeadline instead.
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
