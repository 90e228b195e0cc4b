import { Module } from '@nestjs/common';
import { RedisConnection } from '../redis/redis';
import { RedisModule } from '../redis/redis.module';
import { RedisTokenBucketStore } from './redis-token-bucket.store';
import { TokenBucketStore } from './token-bucket.store';

/** The token buckets: in Redis when it is configured, otherwise in this process. */
@Module({
  imports: [RedisModule],
  providers: [
    {
      provide: TokenBucketStore,
      inject: [RedisConnection],
      useFactory: (redis?: RedisConnection) => new TokenBucketStore(redis && new RedisTokenBucketStore(redis)),
    },
  ],
  exports: [TokenBucketStore],
})
export class RateLimitModule {}
