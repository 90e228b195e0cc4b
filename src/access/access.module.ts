import { ThrottlerStorageRedisService } from '@nest-lab/throttler-storage-redis';
import { Module } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { RateLimitModule } from '../rate-limit/rate-limit.module';
import { REDIS } from '../redis/redis';
import { AccessService } from './access.service';
import { ApiKeysService } from './api-keys.service';
import { AuthenticationFailures } from './authentication-failures';
import { InProcessFailures } from './in-process-failures';
import { OrganizationsService } from './organizations.service';

/** Organizations, their keys, and the guard that reads them. */
@Module({
  imports: [RateLimitModule],
  providers: [
    AccessService,
    AuthenticationFailures,
    ApiKeysService,
    OrganizationsService,
    {
      provide: ThrottlerStorage,
      inject: [REDIS],
      useFactory: (redis?: Redis) => (redis ? new ThrottlerStorageRedisService(redis) : new InProcessFailures()),
    },
  ],
  exports: [AccessService, AuthenticationFailures, ApiKeysService, OrganizationsService],
})
export class AccessModule {}
