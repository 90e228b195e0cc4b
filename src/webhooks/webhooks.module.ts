import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookSender } from './webhook-sender';
import { WebhookEntity } from './webhook.entity';

@Module({
  imports: [TypeOrmModule.forFeature([WebhookEntity])],
  providers: [WebhookSender],
})
export class WebhooksModule {}
