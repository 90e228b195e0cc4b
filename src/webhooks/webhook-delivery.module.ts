import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DeliverySlots } from './delivery-slots';
import { PendingWebhooks } from './pending-webhooks';
import { Subscribers } from './subscribers';
import { Subscriptions } from './subscriptions';
import { WebhookClock } from './webhook-clock';
import { WebhookDelivery } from './webhook-delivery';
import { WebhookFeed } from './webhook-feed';
import { WebhookLeader } from './webhook-leader';
import { WebhookMetrics } from './webhook-metrics';
import { WebhookSender } from './webhook-sender';
import { WebhooksModule } from './webhooks.module';

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
