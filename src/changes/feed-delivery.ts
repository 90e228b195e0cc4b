import { Injectable, Logger } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { DeliverySlots } from '../webhooks/webhook-receivers';
import { PendingWebhooks } from '../webhooks/pending-webhooks';
import { MAX_FAILING_MS, nextAttempt } from './retry';
import { Subscribers } from './subscribers';
import { type DeliveryResult, isAcknowledged, messageId, WebhookClient } from '../webhooks/webhook-client';
import { WebhookClock } from './feed-clock';
import { changedAt, WebhookFeed, type WebhookPage } from './feed-readers';
import { WebhookMetrics } from '../observability/reader-metrics';
import { withoutQuery } from '../webhooks/webhook-url';
import { stateOf, type WebhookEntity, type WebhookState } from './feed-reader.entity';

const SLOW_MS = 1_000;

const STATE_LOG_MESSAGES: Record<WebhookState, string> = {
  active: 'Webhook recovered',
  failing: 'Webhook delivery failed',
  paused: 'Webhook paused',
  disabled: 'Webhook disabled',
};

export interface Delivery {
  isSlow: boolean;
  /** Ends the delivery without a result. */
  abort: AbortController;
}

/** Delivers one page to one webhook, and stores how that ended. */
@Injectable()
export class WebhookDelivery {
  private readonly logger = new Logger('Webhooks');
  /** Webhooks whose last attempt was slow. */
  private readonly slow = new Set<string>();

  constructor(
    private readonly pending: PendingWebhooks,
    private readonly feed: WebhookFeed,
    private readonly client: WebhookClient,
    private readonly subscribers: Subscribers,
    private readonly slots: DeliverySlots,
    private readonly metrics: WebhookMetrics,
    private readonly clock: WebhookClock,
  ) {}

  /** Whether a delivery needs one of the slots for failing and slow receivers. */
  isSlow({ id, failures }: WebhookEntity): boolean {
    return failures > 0 || this.slow.has(id);
  }

  /** @returns the webhook when its next page may follow at once */
  async deliver(source: WebhookEntity, delivery: Delivery): Promise<WebhookEntity | undefined> {
    if (delivery.abort.signal.aborted) return undefined;
    const poll = this.pending.lastPoll(source.id);
    const page = await this.feed.nextPage(source);
    if (!page) {
      this.pending.remove(source.id, poll);
      return undefined;
    }
    // The operator may have disabled, deleted or moved the webhook since the page was read.
    const webhook = await this.feed.reload(page.webhook);
    const isUnmoved = webhook && !webhook.pausedAt && webhook.cursor === page.webhook.cursor;
    if (!isUnmoved || delivery.abort.signal.aborted) return undefined;
    const current = { ...page, webhook };
    if (webhook.disabledAt) {
      await this.feed.storeWaiting(current);
      this.pending.remove(webhook.id, poll);
      return undefined;
    }
    const result = await this.attempt(current, delivery);
    if (!result) return undefined;
    if (isAcknowledged(result)) return this.onDelivered(current, result.status);
    await this.onFailed(current, result);
    return undefined;
  }

  /** @returns undefined when it was ended without a result */
  private async attempt(page: WebhookPage, delivery: Delivery): Promise<DeliveryResult | undefined> {
    const { webhook, phase, changes, hasMore } = page;
    const { signal } = delivery.abort;
    if (changes[0]) this.pending.noteWaiting(webhook.id, changedAt(changes[0]));
    if (webhook.subscription !== null) return unlessAborted(await this.subscribers.call(page, signal), signal);
    const fields = `,"phase":"${phase}","changes":[${changes.join(',')}],"hasMore":${hasMore}`;
    const id = messageId(webhook.id, webhook.cursor, phase, ...changes);
    const sent = this.client.send(webhook, { type: 'changes', id, fields }, new Date(), signal);
    this.slow.delete(webhook.id);
    const timer = setTimeout(() => {
      this.slow.add(webhook.id);
      // Without room among the slow ones it is sent again when there is some.
      if (!delivery.isSlow && !this.slots.becomeSlow(webhook.organizationId, sent)) delivery.abort.abort();
    }, SLOW_MS);
    const result = await sent;
    clearTimeout(timer);
    return unlessAborted(result, signal);
  }

  private async onDelivered({ webhook, phase, cursor }: WebhookPage, status: number) {
    this.metrics.deliveries.inc({ outcome: 'success' });
    const updated = await this.feed.updateIfUnmoved(webhook, {
      cursor,
      endsSnapshot: webhook.endsSnapshot && phase === 'snapshot',
      failures: 0,
      failingSince: null,
      nextAttemptAt: null,
      waitingSince: null,
      lastSuccessAt: this.clock.now(),
      lastStatus: status,
      lastError: null,
    });
    this.logStateChange(webhook, updated);
    return updated;
  }

  private async onFailed({ webhook, changes }: WebhookPage, result: DeliveryResult): Promise<void> {
    this.metrics.deliveries.inc({ outcome: 'failure' });
    const now = this.clock.now();
    const failures = webhook.failures + 1;
    const failingSince = webhook.failingSince ?? now;
    const isGone = 'status' in result && result.status === 410;
    // A method stays enabled: a new version of the server repairs it.
    const isFinal =
      webhook.subscription === null && (isGone || now.getTime() - failingSince.getTime() >= MAX_FAILING_MS);
    const change = {
      failures,
      failingSince,
      nextAttemptAt: nextAttempt(result, failures, now),
      waitingSince: changes[0] ? changedAt(changes[0]) : (webhook.waitingSince ?? now),
      lastStatus: 'status' in result ? result.status : null,
      lastError: 'error' in result ? result.error : null,
      disabledAt: isFinal ? now : null,
    };
    // A webhook that the operator has disabled or enabled meanwhile stays as it is.
    const where = { disabledAt: IsNull(), failures: webhook.failures };
    this.logStateChange(webhook, await this.feed.updateIfUnmoved(webhook, change, where));
  }

  /** Logs a state that a delivery has changed, and the operator has not. */
  private logStateChange(before: WebhookEntity, after = before): void {
    const state = stateOf(after);
    if (state === stateOf(before) || (after.disabledAt && !after.nextAttemptAt)) return;
    const { id: webhookId, organizationId, lastStatus, lastError } = after;
    this.logger.warn({
      message: STATE_LOG_MESSAGES[state],
      webhookId,
      organizationId,
      url: withoutQuery(after.url),
      status: lastStatus ?? undefined,
      error: lastError ?? undefined,
    });
  }
}

/** A response counts also when the delivery was ended meanwhile. */
const unlessAborted = (result: DeliveryResult, { aborted }: AbortSignal): DeliveryResult | undefined =>
  aborted && 'error' in result ? undefined : result;
