import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { REDIS } from '../rate-limit/redis';
import { AccessService } from './access.service';
import { ApiKeysService } from './api-keys.service';
import { AuthenticationFailures } from './authentication-failures';
import { InProcessFailures } from './in-process-failures';
import { OrganizationsService } from './organizations.service';

/** Organizations, their keys, and the guard that reads them. */
@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      imports: [RateLimitModule],
      inject: [{ token: REDIS, optional: true }],
      useFactory: (redis?: Redis) => ({
        throttlers: [],
        storage: redis ? new ThrottlerStorageRedisService(redis) : new InProcessFailures(),
      }),
    }),
  ],
  providers: [AccessService, AuthenticationFailures, ApiKeysService, OrganizationsService],
  exports: [AccessService, AuthenticationFailures, ApiKeysService, OrganizationsService],
})
export class AccessModule {}
