import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangesModule } from '../changes/changes.module';
import { Config } from '../config';
import { DeliverySlots } from './delivery-slots';
import { PendingWebhooks } from './pending-webhooks';
import { ReceiverLookup } from './receiver-lookup';
import { WebhookClient } from './webhook-client';
import { WebhookClock } from './webhook-clock';
import { WebhookDelivery } from './webhook-delivery';
import { WebhookFeed } from './webhook-feed';
import { WebhookLeader } from './webhook-leader';
import { WebhookMetrics } from './webhook-metrics';
import { WebhookSender } from './webhook-sender';
import { WebhookEntity } from './webhook.entity';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEntity]), ChangesModule],
  providers: [
    {
      provide: ReceiverLookup,
      inject: [Config],
      useFactory: ({ webhookPrivate }: Config) => new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' }),
    },
    DeliverySlots,
    PendingWebhooks,
    WebhookClient,
    WebhookClock,
    WebhookDelivery,
    WebhookFeed,
    WebhookLeader,
    WebhookMetrics,
    WebhookSender,
    WebhooksService,
  ],
})
export class WebhooksModule {}
