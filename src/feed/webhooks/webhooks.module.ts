import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module';
import { ChangesModule } from '../changes/changes.module';
import { Config } from '../../config';
import { ReceiverLookup } from './receiver-lookup';
import { WebhookClient } from './webhook-client';
import { KeyReceivers } from './key-receivers';
import { KeyWebhooksService } from './key-webhooks.service';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

/** Webhooks as the operator and API keys manage them. It sends nothing by itself. */
@Module({
  imports: [AccessModule, ChangesModule],
  controllers: [WebhooksController],
  providers: [
    {
      provide: ReceiverLookup,
      inject: [Config],
      useFactory: ({ webhookPrivate }: Config) => new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' }),
    },
    KeyReceivers,
    KeyWebhooksService,
    WebhookClient,
    WebhooksService,
  ],
  exports: [KeyWebhooksService, WebhookClient, WebhooksService],
})
export class WebhooksModule {}
