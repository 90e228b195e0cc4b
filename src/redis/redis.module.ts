import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config';
import { RedisConnection } from './redis';

/** The connection to Redis that all features share; undefined where none is configured. */
@Module({
  providers: [
    {
      provide: RedisConnection,
      inject: [Config],
      useFactory: ({ redisUrl, redisSentinels }: Config) =>
        redisUrl ? new RedisConnection(redisUrl, redisSentinels) : undefined,
    },
  ],
  exports: [RedisConnection],
})
export class RedisModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly redis?: RedisConnection) {}

  async onModuleInit(): Promise<void> {
    if (this.redis) await this.redis.untilReady();
  }

  /** Not earlier: requests that are still under way need it. */
  async onApplicationShutdown(): Promise<void> {
    if (this.redis) await this.redis.close();
  }
}
