import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessService } from './access.service';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditedImports } from './audited-imports';
import { AuditLog } from './audit-log.service';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysService } from './api-keys.service';
import { FailedAuthentications } from './failed-authentications';
import { OrganizationEntity } from './organization.entity';
import { OrganizationsService } from './organizations.service';

const SERVICES = [AccessService, FailedAuthentications, ApiKeysService, OrganizationsService, AuditLog, AuditedImports];

/** Organizations and their keys. */
@Module({
  imports: [TypeOrmModule.forFeature([OrganizationEntity, ApiKeyEntity, AuditEntryEntity])],
  providers: SERVICES,
  exports: [TypeOrmModule, ...SERVICES],
})
export class AccessModule {}
