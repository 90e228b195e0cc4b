import { Module } from '@nestjs/common';
import { FeedDeliveryModule } from '../changes/feed-delivery.module';
import { WebhookReceivers } from './webhook-receivers';
import { WebhooksModule } from './webhooks.module';

/** Sends the change feed to webhooks for as long as the process runs. A server imports it, and no command. */
@Module({ imports: [FeedDeliveryModule, WebhooksModule], providers: [WebhookReceivers] })
export class WebhookDeliveryModule {}
