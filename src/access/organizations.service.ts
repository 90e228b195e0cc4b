import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { lockOrganization } from '../database/locks';
import { ApiKeyEntity } from './api-key.entity';
import { OrganizationEntity } from './organization.entity';

export interface Organization {
  id: number;
  name: string;
}

/** The tables of which an organization may have many rows; what belongs to those goes with them, and the rest at last. */
const EMPTIED = ['leads', 'events', 'tag_groups', 'users'];

/** Tables whose rows no foreign key removes. */
const UNOWNED = ['lists', 'list_counts', 'changes'];

/** Rows that are deleted at once: others wait for no longer. */
const DELETED_AT_ONCE = 1000;

/** The operator's view of the organizations. */
@Injectable()
export class OrganizationsService {
  constructor(
    @InjectRepository(OrganizationEntity) private readonly organizations: Repository<OrganizationEntity>,
    @InjectRepository(ApiKeyEntity) private readonly keys: Repository<ApiKeyEntity>,
  ) {}

  async create(name: string): Promise<Organization> {
    const { identifiers } = await this.organizations.insert({ name });
    return { id: identifiers[0]?.id as number, name };
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
   * Deletes an organization and all that is its own, a batch a transaction, its keys first. Where that is interrupted,
   * it goes on when it is called again.
   */
  async delete(id: number): Promise<void> {
    await this.keys.update({ organizationId: id }, { revokedAt: () => 'coalesce(revoked_at, now())' });
    for (const table of EMPTIED) while ((await this.deleteSome(id, table, 'id')) === DELETED_AT_ONCE);
    // The deletes themselves are changes.
    while ((await this.deleteSome(id, 'changes', 'ctid')) === DELETED_AT_ONCE);
    await this.organizations.manager.transaction(async (manager) => {
      await lockOrganization(manager, id);
      await manager.withRepository(this.organizations).delete({ id });
      for (const table of UNOWNED) await manager.query(`delete from ${table} where organization_id = $1`, [id]);
    });
  }

  private deleteSome(id: number, table: string, key: string): Promise<number> {
    return this.organizations.manager.transaction(async (manager) => {
      await lockOrganization(manager, id);
      const [, count] = await manager.query<[unknown, number]>(
        `delete from ${table} where organization_id = $1
          and ${key} in (select ${key} from ${table} where organization_id = $1 limit ${DELETED_AT_ONCE})`,
        [id],
      );
      return count;
    });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.organizations.exists());
  }

  exists(id: number): Promise<boolean> {
    return this.organizations.existsBy({ id });
  }
}
