import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ChangesModule } from './changes.module';
import { FeedClock } from './feed-clock';
import { FeedDelivery } from './feed-delivery';
import { FeedReaders } from './feed-readers';
import { FeedSender } from './feed-sender';
import { SentChanges } from './sent-changes';
import { Subscribers } from './subscribers';
import { Subscriptions } from './subscriptions';

/** Delivers the change feed for as long as the process runs. A server imports it, and no command. */
@Module({
  imports: [DiscoveryModule, ChangesModule],
  providers: [FeedClock, FeedDelivery, FeedReaders, FeedSender, SentChanges, Subscribers, Subscriptions],
  exports: [FeedClock, FeedDelivery, FeedSender],
})
export class FeedDeliveryModule {}
