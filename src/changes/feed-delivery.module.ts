import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DeliverySlots } from '../webhooks/webhook-receivers';
import { PendingWebhooks } from '../webhooks/pending-webhooks';
import { Subscribers } from './subscribers';
import { Subscriptions } from './subscriptions';
import { WebhookClock } from './feed-clock';
import { WebhookDelivery } from './feed-delivery';
import { WebhookFeed } from './feed-readers';
import { WebhookLeader } from './feed-leader';
import { WebhookMetrics } from '../observability/reader-metrics';
import { WebhookSender } from './feed-sender';
import { WebhooksModule } from '../webhooks/webhooks.module';

/** Sends the changes to the webhooks, and calls the methods with `@OnChanges`, for as long as the process runs. A server imports it, and no command. */
@Module({
  imports: [DiscoveryModule, WebhooksModule],
  providers: [
    DeliverySlots,
    PendingWebhooks,
    Subscribers,
    Subscriptions,
    WebhookClock,
    WebhookDelivery,
    WebhookFeed,
    WebhookLeader,
    WebhookMetrics,
    WebhookSender,
  ],
})
export class WebhookDeliveryModule {}
