import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../../config';
import { requiresNewConnection, logFields } from '../../data/database/errors';
import { ReservedConnection } from '../../data/database/reserved-connection';
import { FeedClock } from './feed-clock';
import { FeedDelivery, type Receivers } from './feed-delivery';
import type { FeedReaderEntity } from './feed-reader.entity';
import { FeedReaders } from './feed-readers';
import { Subscribers } from './subscribers';
import { Subscriptions } from './subscriptions';

/** An arbitrary constant: the advisory lock of the process that delivers. */
const LEADER_LOCK = 7_261_915;
/**
 * The second half of the lock. A migration after which older servers cannot deliver raises it, so that none of them keeps the
 * lock from a server that can (docs/decisions/0022).
 */
const LEADER_VERSION = 1;

/** A delivery that runs or waits for its turn, and what follows when it ends. */
interface RunningDelivery {
  /** Ends the delivery without a result. */
  abort: AbortController;
  done: Promise<void>;
}

/**
 * Delivers the change feed to its readers, which are webhooks (docs/webhooks.md) and methods with `@OnChanges`: one page at a
 * time to each, again until it succeeds. After each page it is the turn of the next organization.
 *
 * Of all processes only the leader delivers, which holds an advisory lock. The lock belongs to the process's own connection, and
 * so does everything that the leader reads and stores: a process that has lost the lock cannot store anything.
 */
@Injectable()
export class FeedSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  /** Running deliveries, and those that wait for their turn, by the id of their reader. */
  private readonly deliveries = new Map<string, RunningDelivery>();
  private webhooks?: Receivers;
  private isLeader = false;
  private pollsSinceError = Infinity;
  private timer?: NodeJS.Timeout;
  private polling = Promise.resolve();
  private isStopping = false;

  constructor(
    private readonly connection: ReservedConnection,
    private readonly readers: FeedReaders,
    private readonly delivery: FeedDelivery,
    private readonly subscribers: Subscribers,
    private readonly subscriptions: Subscriptions,
    private readonly clock: FeedClock,
    private readonly config: Config,
  ) {
    connection.whenLost(() => {
      this.isLeader = false;
      this.abortAll();
    });
  }

  /** To be called before the application has started. */
  deliverWebhooksBy(receivers: Receivers): void {
    this.webhooks = receivers;
  }

  onApplicationBootstrap(): void {
    const next = async (): Promise<void> => {
      await this.poll();
      if (!this.isStopping) this.timer = setTimeout(start, this.clock.pollIntervalMs).unref();
    };
    const start = (): void => void (this.polling = next());
    start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Ends deliveries that are under way; the next leader sends them again. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    this.abortAll();
    await this.polling;
    await Promise.all([...this.deliveries.values()].map(({ done }) => done));
    await this.connection.close();
  }

  /** Starts a delivery to every reader that is due. */
  async poll(): Promise<void> {
    this.pollsSinceError++;
    try {
      if (this.isStopping) return;
      // Also without deliveries: other servers detect this one by a lock of its connection.
      await this.connection.open();
      if (this.config.webhooks === 'off' || !(this.isLeader ||= await this.becomeLeader())) return;
      await this.readers.deleteWithoutKey();
      await this.subscriptions.addRows();
      const due = await this.readers.due([...this.deliveries.keys()], this.subscribers.names);
      for (const reader of due) this.startDelivery(reader);
    } catch (error) {
      await this.onError(error);
      // Whatever the reason is, another process may succeed.
      await this.connection.close();
    }
  }

  /** @returns whether no other process is the leader */
  private async becomeLeader(): Promise<boolean> {
    const [{ isHeld }] = await this.connection.run((manager) =>
      manager.query<[{ isHeld: boolean }]>('select pg_try_advisory_lock($1, $2) as "isHeld"', [
        LEADER_LOCK,
        LEADER_VERSION,
      ]),
    );
    return isHeld;
  }

  private abortAll(): void {
    for (const { abort } of this.deliveries.values()) abort.abort();
  }

  private async onError(error: unknown): Promise<undefined> {
    const message = 'Webhook delivery paused: cannot reach the database';
    // An outage is logged once: all that fail in a poll, and those that follow from poll to poll.
    if (this.pollsSinceError > 1 && !this.isStopping) this.logger.warn({ message, ...logFields(error) });
    this.pollsSinceError = 0;
    if (requiresNewConnection(error)) await this.connection.close();
    return undefined;
  }

  /** Queues a delivery in the background: one slow receiver must not delay the others. */
  private startDelivery(reader: FeedReaderEntity): void {
    const { id, subscription } = reader;
    const receivers = subscription === null ? this.webhooks : this.subscribers;
    if (!receivers || this.isStopping || this.deliveries.has(id)) return;
    const abort = new AbortController();
    const done = receivers
      .inTurn(reader, () => this.delivery.deliver(reader, receivers, abort.signal))
      .catch((error: unknown) => this.onError(error))
      .then((updated) => {
        this.deliveries.delete(id);
        if (updated) this.startDelivery(updated);
      });
    this.deliveries.set(id, { abort, done });
  }
}
