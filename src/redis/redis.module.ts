import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config';
import { closeRedis, createRedis, REDIS, type RedisConnection, untilReady } from './redis';

/** The connection to Redis, where one is configured. */
@Module({
  providers: [
    {
      provide: REDIS,
      inject: [Config],
      useFactory: ({ redisUrl, redisSentinels }: Config) =>
        redisUrl ? createRedis(redisUrl, redisSentinels) : undefined,
    },
  ],
  exports: [REDIS],
})
export class RedisModule implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(REDIS) private readonly redis?: RedisConnection) {}

  async onModuleInit(): Promise<void> {
    if (this.redis) await untilReady(this.redis);
  }

  /** Not earlier: requests that are still under way need it. */
  async onApplicationShutdown(): Promise<void> {
    if (this.redis) await closeRedis(this.redis);
  }
}
