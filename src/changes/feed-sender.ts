import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../config';
import { requiresNewConnection, logFields } from '../database/errors';
import { DeliverySlots } from '../webhooks/webhook-receivers';
import { PendingWebhooks } from '../webhooks/pending-webhooks';
import { type Delivery, WebhookDelivery } from './feed-delivery';
import { Subscriptions } from './subscriptions';
import { WebhookClock } from './feed-clock';
import { WebhookLeader } from './feed-leader';
import type { WebhookEntity } from './feed-reader.entity';

/** A delivery that runs or waits for a slot, and what follows when it ends. */
type RunningDelivery = Delivery & { done: Promise<void> };

/**
 * Delivers the feed of changes to webhooks (docs/webhooks.md) and to methods with `@OnChanges`: one page at a time to each, again
 * until its receiver responds with 2xx or its method succeeds. After each page the slot goes to the organization whose turn it is.
 */
@Injectable()
export class WebhookSender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  /** Running deliveries, and those that wait for a slot, by the id of their webhook. */
  private readonly deliveries = new Map<string, RunningDelivery>();
  private errorsSincePoll = 0;
  private isErrorLogged = false;
  private timer?: NodeJS.Timeout;
  private polling = Promise.resolve();
  private isStopping = false;

  constructor(
    private readonly leader: WebhookLeader,
    private readonly pending: PendingWebhooks,
    private readonly delivery: WebhookDelivery,
    private readonly slots: DeliverySlots,
    private readonly subscriptions: Subscriptions,
    private readonly clock: WebhookClock,
    private readonly config: Config,
  ) {
    leader.whenLost(() => {
      this.pending.reset();
      for (const { abort } of this.deliveries.values()) abort.abort();
    });
  }

  onApplicationBootstrap(): void {
    if (this.config.webhooks === 'off') return;
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
    for (const { abort } of this.deliveries.values()) abort.abort();
    await this.polling;
    await Promise.all([...this.deliveries.values()].map(({ done }) => done));
    await this.leader.resign();
  }

  /** Starts a delivery for every webhook that is due. */
  async poll(): Promise<void> {
    if (this.errorsSincePoll === 0) this.isErrorLogged = false;
    this.errorsSincePoll = 0;
    try {
      if (this.isStopping || !(await this.leader.isLeader())) return;
      await this.subscriptions.addRows();
      for (const webhook of await this.pending.loadDueWebhooks([...this.deliveries.keys()]))
        this.startDelivery(webhook);
    } catch (error) {
      await this.onError(error);
      // Whatever the reason is, another process may succeed.
      await this.leader.resign();
    }
  }

  private async onError(error: unknown): Promise<undefined> {
    this.errorsSincePoll++;
    const message = 'Webhook delivery paused: cannot reach the database';
    if (!this.isErrorLogged && !this.isStopping) this.logger.warn({ message, ...logFields(error) });
    this.isErrorLogged = true;
    if (requiresNewConnection(error)) await this.leader.resign();
    return undefined;
  }

  /** Queues a delivery in the background: one slow receiver must not delay the others. */
  private startDelivery(webhook: WebhookEntity): void {
    const { id, organizationId } = webhook;
    if (this.isStopping || this.deliveries.has(id)) return;
    const delivery = { isSlow: this.delivery.isSlow(webhook), abort: new AbortController(), done: Promise.resolve() };
    this.deliveries.set(id, delivery);
    const work = (): Promise<WebhookEntity | undefined> => this.delivery.deliver(webhook, delivery);
    const isCall = webhook.subscription !== null;
    const running = isCall
      ? this.slots.runCall(organizationId, work)
      : this.slots.run(organizationId, delivery.isSlow, work);
    delivery.done = running
      .catch((error: unknown) => this.onError(error))
      .then((updated) => {
        this.deliveries.delete(id);
        if (updated) this.startDelivery(updated);
      });
  }
}
