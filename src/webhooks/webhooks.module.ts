import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../access/access.module';
import { ChangesModule } from '../changes/changes.module';
import { Config } from '../config';
import { ReceiverLookup } from './receiver-lookup';
import { SubscriptionEntity } from '../changes/subscription.entity';
import { WebhookClient } from './webhook-client';
import { WebhookEntity } from '../changes/feed-reader.entity';
import { WebhooksService } from './webhooks.service';

/** The operator's view of the webhooks. It sends nothing by itself. */
@Module({
  imports: [TypeOrmModule.forFeature([WebhookEntity, SubscriptionEntity]), AccessModule, ChangesModule],
  providers: [
    {
      provide: ReceiverLookup,
      inject: [Config],
      useFactory: ({ webhookPrivate }: Config) => new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' }),
    },
    WebhookClient,
    WebhooksService,
  ],
  exports: [TypeOrmModule, ChangesModule, WebhookClient, WebhooksService],
})
export class WebhooksModule {}
