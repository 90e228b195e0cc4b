import { Injectable } from '@nestjs/common';
import type { DeliveryResult } from '../changes/delivery-result';
import { deliveryTurns, type Receivers } from '../changes/feed-delivery';
import type { FeedReaderEntity } from '../changes/feed-reader.entity';
import type { ReaderPage } from '../changes/feed-readers';
import { FeedSender } from '../changes/feed-sender';
import { messageId, type Webhook, WebhookClient } from './webhook-client';

/** Connections to receivers at the same time. Those whose last delivery failed have slots of their own. */
const MAX_DELIVERIES = 24;
const MAX_RETRIES = 8;
/** A webhook that has failed for so long is disabled. */
const MAX_FAILING_MS = 5 * 86_400_000;

/** Delivers pages of the change feed by HTTP. */
@Injectable()
export class WebhookReceivers implements Receivers {
  private readonly deliveries = deliveryTurns(MAX_DELIVERIES);
  private readonly retries = deliveryTurns(MAX_RETRIES);

  constructor(
    private readonly client: WebhookClient,
    sender: FeedSender,
  ) {
    sender.deliverWebhooksBy(this);
  }

  inTurn<T>({ organizationId, failures }: FeedReaderEntity, delivery: () => Promise<T>): Promise<T> {
    return (failures > 0 ? this.retries : this.deliveries).run(organizationId, delivery);
  }

  deliver({ reader, phase, changes, hasMore }: ReaderPage, signal: AbortSignal): Promise<DeliveryResult> {
    const fields = `,"phase":"${phase}","changes":[${changes.join(',')}],"hasMore":${hasMore}`;
    const id = messageId(reader.id, reader.cursor, phase, ...changes);
    return this.client.send(reader as Webhook, { type: 'changes', id, fields }, new Date(), signal);
  }

  /** A receiver wants no more pages when it responds with 410. */
  givesUp(result: DeliveryResult, failingMs: number): boolean {
    return failingMs >= MAX_FAILING_MS || ('status' in result && result.status === 410);
  }
}
