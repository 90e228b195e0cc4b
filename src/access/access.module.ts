import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessService } from './access.service';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditedImports } from './audited-imports';
import { AuditLog } from './audit-log.service';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysService } from './api-keys.service';
import { FailedAuthenticationModule, FailedAuthenticationThrottler } from './failed-authentication.throttler';
import { OrganizationEntity } from './organization.entity';
import { OrganizationsService } from './organizations.service';
import { OwnRecords } from './own-records';

const services = [
  AccessService,
  FailedAuthenticationThrottler,
  ApiKeysService,
  OrganizationsService,
  OwnRecords,
  AuditLog,
  AuditedImports,
];

/** Organizations and their keys. */
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ApiKeyEntity, AuditEntryEntity]), FailedAuthenticationModule],
  providers: services,
  exports: [TypeOrmModule, ...services],
})
export class AccessModule {}
