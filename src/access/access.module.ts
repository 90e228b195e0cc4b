import { Module } from '@nestjs/common';
import { AccessService } from './access.service';
import { ApiKeysService } from './api-keys.service';
import { FailedAuthenticationModule, FailedAuthenticationThrottler } from './failed-authentication.throttler';
import { OrganizationsService } from './organizations.service';

/** Organizations and their keys. */
@Module({
  imports: [FailedAuthenticationModule],
  providers: [AccessService, FailedAuthenticationThrottler, ApiKeysService, OrganizationsService],
  exports: [AccessService, FailedAuthenticationThrottler, ApiKeysService, OrganizationsService],
})
export class AccessModule {}
