import { once } from 'node:events';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { LinkedList } from '../../data/database/linked-list';
import { type Address, serverUrls } from '../../config';

/** How long a request or a shutdown waits for a silent Redis. */
const DEADLINE_MS = 100;
/** Silence is counted in steps. One that takes longer counts no more: if this process did not run, Redis may not have run, either. */
const STEP_MS = 20;
/** How long a request waits for its reply while Redis replies to other commands, or while this process is busy. */
const MAX_WAIT_MS = 1_000;
/** How often the map of a cluster's slots is read again. A killed master's slots are found at their new one within this time. */
const SLOTS_INTERVAL_MS = 1_000;

/** How long connecting may take, and each command of a connection's own handshake. */
const CONNECT_TIMEOUT_MS = 1_000;
/** After this silence, a connection to a node of a cluster is closed. */
const NODE_SILENCE_MS = 2_000;

/** What makes connections fail fast: a command is sent once, or not at all. */
const FAIL_FAST: RedisOptions = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: DEADLINE_MS,
};

const retryDelay = (attempts: number): number => Math.min(attempts * 50, 1_000);

/** Commands that are sent together. */
interface Batch {
  /** When the batch was sent, by the clock of `performance.now()`; Infinity before that. */
  sentAt: number;
  /** The step in which it was sent. */
  sentIn: number;
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
export class RedisConnection {
  readonly client: Redis | Cluster;
  /** The reason why there is no usable connection. */
  lastError?: Error;
  /** The number of steps in which replies were pending. */
  private step = 0;
  /** The step in which Redis last sent something. In a cluster, other nodes say nothing about one. */
  private lastReplyIn = 0;
  /** The commands of the current turn of the event loop; undefined before the first one. */
  private batch?: Batch;
  /** The replies that have a time limit, in the order of their commands. */
  private readonly pendingReplies = new LinkedList<PendingReply>();
  /** The timer of the deadlines. It runs while a reply may be pending. */
  private timer?: NodeJS.Timeout;

  /**
   * @param url such as `redis://host:6379/0`, or `redis://one:6379,two:6379` for a cluster
   * @param sentinels where to ask, at each attempt to connect, for the master of the group that `url` names in place of a
   *   host
   */
  constructor(url: string, sentinels?: readonly Address[]) {
    const nodes = serverUrls(url);
    const client = nodes.length > 1 ? openCluster(nodes) : openServer(url, sentinels);
    this.client = client;
    // Without a listener ioredis prints every attempt to reconnect. The token buckets log what matters, once.
    client.on('error', (error: Error & { lastNodeError?: Error }) => {
      this.lastError = error.lastNodeError ?? error;
    });
    client.on('ready', () => {
      this.lastError = undefined;
    });
    if (client instanceof Cluster) return;
    client.on('connect', () => {
      client.stream.on('data', () => {
        this.lastReplyIn = this.step;
      });
    });
  }

  private get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /** Waits up to a second for the connection, so that the first requests find it. It is no error if Redis does not respond. */
  async waitUntilReady(): Promise<void> {
    if (this.isReady) return;
    await once(this.client, 'ready', { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  }

  /** Closes the connection, after the commands in progress if Redis responds, and stops reconnecting. */
  async close(): Promise<void> {
    await this.run(() => this.client.quit()).catch(() => undefined);
    this.client.disconnect();
  }

  /**
   * Opens the connection again: to a peer that vanished, or became a replica in a failover, it would stay open for minutes.
   * A cluster does this for each of its nodes.
   */
  reconnect(): void {
    if (this.isReady && this.client instanceof Redis) this.client.disconnect(true);
  }

  /**
   * Sends a command whose reply has a time limit. Unlike ioredis's `commandTimeout` it blames Redis only for its own delay.
   * Time counts from the end of the turn of the event loop, when commands are sent, and only while this process runs.
   * A Redis that replies to other commands is busy rather than unreachable.
   *
   * @throws Error `No response within 100 ms`, and others
   */
  run<T>(command: () => Promise<T>): Promise<T> {
    if (!this.isReady) return Promise.reject(new Error('Not connected'));
    const batch = (this.batch ??= this.startBatch());
    return new Promise((resolve, reject) => {
      const pending = this.pendingReplies.add({ batch, reject });
      this.timer ??= this.nextStep();
      command().then(
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
   * One timer serves all replies, because one per reply costs 8 % of a request's CPU time.
   * Timers run before the replies in the socket are read, so the check runs in the next turn of the event loop.
   */
  private nextStep(): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.checkDeadlines()), STEP_MS).unref();
  }

  /** Rejects the replies that are overdue, the oldest first, until one is not. */
  private checkDeadlines(): void {
    this.timer = undefined;
    this.step += 1;
    const now = performance.now();
    for (let pending = this.pendingReplies.first; pending; pending = this.pendingReplies.first) {
      const { sentAt, sentIn } = pending.value.batch;
      const silence = (this.step - Math.max(sentIn, this.lastReplyIn)) * STEP_MS;
      if (silence <= DEADLINE_MS && now - sentAt < MAX_WAIT_MS) {
        this.timer = this.nextStep();
        return;
      }
      this.pendingReplies.remove(pending);
      pending.value.reject(new Error(`No response within ${DEADLINE_MS} ms`));
    }
  }

  /** Holds commands back until the end of this turn of the event loop. */
  private startBatch(): Batch {
    const batch: Batch = { sentAt: Infinity, sentIn: Infinity };
    const servers = this.client instanceof Cluster ? this.client.nodes('master') : [this.client];
    // A node of a cluster has no stream before its first command.
    const streams = servers.flatMap(({ stream }) => stream ?? []);
    for (const stream of streams) stream.cork();
    setImmediate(() => {
      this.batch = undefined;
      for (const stream of streams) stream.uncork();
      batch.sentAt = performance.now();
      batch.sentIn = this.step;
    });
    return batch;
  }
}

function openServer(url: string, sentinels?: readonly Address[]): Redis {
  const redis = new Redis(url, {
    ...FAIL_FAST,
    ...(sentinels && { sentinels: [...sentinels], name: new URL(url).hostname, sentinelCommandTimeout: 1_000 }),
    enableOfflineQueue: false,
    commandTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: retryDelay,
    // The same delay applies after a round in which no sentinel responded.
    sentinelRetryStrategy: retryDelay,
  });
  // ioredis times the handshake alone, because a command that it times becomes slow to read (docs/decisions/0019).
  const timeCommands = (commandTimeout?: number) => () => Object.assign(redis.options, { commandTimeout });
  redis.on('ready', timeCommands(undefined)).on('close', timeCommands(CONNECT_TIMEOUT_MS));
  return redis;
}

function openCluster(nodes: string[]): Cluster {
  const { protocol, username, password } = new URL(nodes[0]!);
  const cluster = new Cluster(nodes, {
    // Nodes that the cluster names have no URL of ours.
    redisOptions: {
      ...FAIL_FAST,
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
      tls: protocol === 'rediss:' ? {} : undefined,
      // ioredis may apply it to the next connection of a client. Here, a node's next connection is of another client.
      socketTimeout: NODE_SILENCE_MS,
    },
    clusterRetryStrategy: retryDelay,
    slotsRefreshInterval: SLOTS_INTERVAL_MS,
    // A command whose connection closed may have been carried out. If it was sent again, it would charge two tokens.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Certificates are of host names, so these are not replaced by addresses.
    dnsLookup: (host, callback) => callback(null, host),
  });
  // By default, a node is connected to by its first command, which would wait.
  cluster.on('+node', (node: Redis) => void node.connect().catch(() => undefined));
  return cluster;
}
