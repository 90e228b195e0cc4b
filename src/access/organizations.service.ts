import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { lockOrganization } from '../data/database/locks';
import { LIST_TABLES } from '../data/schema/lists';
import { SET_ACTOR, UNAUDITED } from '../data/database/actor';
import { recordAudit } from './audit-log.service';
import { ApiKeyEntity } from './api-key.entity';
import { OrganizationData } from './organization-data';
import { OrganizationEntity } from './organization.entity';

export interface Organization {
  id: number;
  name: string;
}

/** Tables without a foreign key to organizations, so that no cascade deletes their rows. */
const UNSCOPED_TABLES = [...LIST_TABLES, 'changes'];

/** Maximum number of rows to delete in one transaction, so that others do not wait for long. */
const DELETE_BATCH_SIZE = 1000;

/** Lets the operator manage organizations. */
@Injectable()
export class OrganizationsService {
  constructor(
    @InjectRepository(OrganizationEntity) private readonly organizations: Repository<OrganizationEntity>,
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
    private readonly data: OrganizationData,
  ) {}

  async create(name: string): Promise<Organization> {
    return this.organizations.manager.transaction(async (manager) => {
      const { identifiers } = await manager.withRepository(this.organizations).insert({ name });
      const id = identifiers[0]?.id as number;
      const operation = 'organizations create';
      await recordAudit(manager, { organizationId: id, operation, resource: 'organizations', change: 'created', id });
      return { id, name };
    });
  }

  /** All organizations, oldest first, with their numbers of keys and leads. */
  async list(): Promise<(Organization & { keys: number; leads: number })[]> {
    return this.organizations.query(`
      select id, name,
        (select count(*)::int from api_keys k where k.organization_id = o.id) as keys,
        coalesce((select rows from list_counts where organization_id = o.id and list = 'leads' and shift = 40), 0) as leads
      from organizations o order by id`);
  }

  find(id: number): Promise<Organization | null> {
    return this.organizations.findOne({ select: { id: true, name: true }, where: { id } });
  }

  async rename(id: number, name: string): Promise<Organization> {
    await this.organizations.update({ id }, { name });
    return { id, name };
  }

  /**
   * Deletes an organization with all its data, one batch per transaction, after revoking its keys. If it is interrupted,
   * call it again to continue.
   */
  async delete(id: number): Promise<void> {
    await this.keys.update({ organizationId: id }, { revokedAt: () => 'coalesce(revoked_at, now())' });
    for (const entity of this.data.entities) {
      const { tableName, ownColumns } = this.organizations.manager.dataSource.getMetadata(entity);
      // The rows of a shared table belong to no organization.
      if (!ownColumns.some(({ propertyName }) => propertyName === 'organizationId')) continue;
      await this.deleteInBatches(id, tableName, 'id');
    }
    // The deletes themselves were logged as changes.
    await this.deleteInBatches(id, 'changes', 'ctid');
    await this.organizations.manager.transaction(async (manager) => {
      await lockOrganization(manager, id);
      await manager.query(SET_ACTOR, [UNAUDITED]);
      await recordAudit(manager, {
        operation: 'organizations delete',
        resource: 'organizations',
        change: 'deleted',
        id,
      });
      await manager.withRepository(this.organizations).delete({ id });
      for (const table of UNSCOPED_TABLES) await manager.query(`delete from ${table} where organization_id = $1`, [id]);
    });
  }

  private async deleteInBatches(id: number, table: string, key: string): Promise<void> {
    const deleteBatch = async (manager: EntityManager): Promise<number> => {
      await lockOrganization(manager, id);
      // One entry stands for the whole organization.
      await manager.query(SET_ACTOR, [UNAUDITED]);
      const [, count] = await manager.query<[unknown, number]>(
        `delete from ${table} where organization_id = $1
          and ${key} in (select ${key} from ${table} where organization_id = $1 limit ${DELETE_BATCH_SIZE})`,
        [id],
      );
      return count;
    };
    while ((await this.organizations.manager.transaction(deleteBatch)) === DELETE_BATCH_SIZE);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.organizations.exists());
  }
}
