import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ChangesModule } from '../changes/changes.module';
import { WebhookSender } from './webhook-sender';
import { WebhookEntity } from './webhook.entity';

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEntity]), ChangesModule],
  providers: [WebhookSender],
})
export class WebhooksModule {}
