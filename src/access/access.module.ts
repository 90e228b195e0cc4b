import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessService } from './access.service';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysService } from './api-keys.service';
import { FailedAuthenticationModule, FailedAuthenticationThrottler } from './failed-authentication.throttler';
import { OrganizationEntity } from './organization.entity';
import { OrganizationsService } from './organizations.service';

/** Organizations and their keys. */
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ApiKeyEntity]), FailedAuthenticationModule],
  providers: [AccessService, FailedAuthenticationThrottler, ApiKeysService, OrganizationsService],
  exports: [TypeOrmModule, AccessService, FailedAuthenticationThrottler, ApiKeysService, OrganizationsService],
})
export class AccessModule {}
