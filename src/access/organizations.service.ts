import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import { OrganizationEntity } from './organization.entity';

export interface Organization {
  id: number;
  name: string;
}

/** The operator's view of the organizations. */
@Injectable()
export class OrganizationsService {
  constructor(private readonly manager: EntityManager) {}

  async create(name: string): Promise<Organization> {
    const { identifiers } = await this.manager.insert(OrganizationEntity, { name });
    return { id: identifiers[0]?.id as number, name };
  }

  /** All organizations, oldest first, with their numbers of keys and leads. */
  async list(): Promise<(Organization & { keys: number; leads: number })[]> {
    return this.manager.query(`
      select id, name,
        (select count(*)::int from api_keys k where k.organization_id = o.id) as keys,
        coalesce((select rows from list_counts where organization_id = o.id and list = 'leads' and shift = 40), 0) as leads
      from organizations o order by id`);
  }

  async areNone(): Promise<boolean> {
    return !(await this.manager.exists(OrganizationEntity));
  }

  exists(id: number): Promise<boolean> {
    return this.manager.existsBy(OrganizationEntity, { id });
  }
}
