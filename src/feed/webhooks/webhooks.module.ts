import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module';
import { ChangesModule } from '../changes/changes.module';
import { Config } from '../../config';
import { ReceiverLookup } from './receiver-lookup';
import { WebhookClient } from './webhook-client';
import { WebhooksService } from './webhooks.service';

/** The operator's view of the webhooks. It sends nothing by itself. */
@Module({
  imports: [AccessModule, ChangesModule],
  providers: [
    {
      provide: ReceiverLookup,
      inject: [Config],
      useFactory: ({ webhookPrivate }: Config) => new ReceiverLookup({ allowPrivate: webhookPrivate === 'on' }),
    },
    WebhookClient,
    WebhooksService,
  ],
  exports: [WebhookClient, WebhooksService],
})
export class WebhooksModule {}
