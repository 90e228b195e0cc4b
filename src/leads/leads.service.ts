import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { v7 as uuid } from 'uuid';
import { one } from '../database/json';
import { Json, ListStatement, Page, Reads, rendered } from '../database/reads';
import { inTransaction } from '../database/transaction';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import type { LeadCreateV0Input, LeadPatchV0Input, RemoteIdInput } from './lead.dto';
import { LeadEntity } from './lead.entity';
import { LEAD, RemoteId } from './lead.response';

const LIST: ListStatement = {
  name: 'leads',
  rows: 'select * from leads where organization_id = $1 order by created_at, id',
  render: LEAD,
  total: 'select count(*) from leads where organization_id = $1',
};

const ONE = one('select * from leads where organization_id = $1 and id = $2', LEAD);

@Injectable()
export class LeadsService {
  constructor(
    private readonly reads: Reads,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  list({ organizationId }: Caller, page: PageQuery): Promise<Page> {
    return this.reads.page(LIST, [organizationId], page);
  }

  get({ organizationId }: Caller, leadId: string): Promise<Json> {
    return this.reads.one('lead', ONE, [organizationId, leadId]);
  }

  create({ organizationId }: Caller, input: LeadCreateV0Input): Promise<Json> {
    const { createdByEmail: createdBy, phoneNumbers: leadProvidedPhoneNumbers, ...names } = input;
    // A uuid of version 7 grows with time, so that leads of one millisecond are listed in the order of their creation.
    const id = uuid();
    return inTransaction(this.dataSource, async (manager) => {
      await manager.insert(LeadEntity, { id, organizationId, createdBy, leadProvidedPhoneNumbers, ...names });
      return rendered(manager, ONE, [organizationId, id]);
    });
  }

  patch({ organizationId }: Caller, leadId: string, patch: LeadPatchV0Input): Promise<Json> {
    const { phoneNumbers, remoteId, ...texts } = patch;
    return inTransaction(this.dataSource, async (manager) => {
      const key = { organizationId, id: leadId };
      const lead = await manager.findOne(LeadEntity, {
        select: { remoteIds: true },
        where: key,
        lock: { mode: 'pessimistic_write' },
      });
      if (!lead) throw new NotFoundException();
      const changes: QueryDeepPartialEntity<LeadEntity> = texts;
      if (phoneNumbers !== undefined) changes.leadProvidedPhoneNumbers = phoneNumbers ?? [];
      if (remoteId !== undefined) changes.remoteIds = withRemoteId(lead.remoteIds, remoteId);
      if (Object.keys(changes).length > 0) await manager.update(LeadEntity, key, changes);
      return rendered(manager, ONE, [organizationId, leadId]);
    });
  }

  /** Foreign keys remove everything that belongs to the lead. */
  async delete({ organizationId }: Caller, leadId: string): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(LeadEntity, { organizationId, id: leadId });
    if (!affected) throw new NotFoundException();
  }
}

/** The remote ids with the one of this integration type replaced where it stands, added at the end, or cleared. */
function withRemoteId(all: RemoteId[], { id, integrationType }: RemoteIdInput): RemoteId[] {
  const isOfType = (remote: RemoteId): boolean => remote.integrationType === integrationType;
  if (id === null) return all.filter((remote) => !isOfType(remote));
  const replaced = all.map((remote) => (isOfType(remote) ? { id, integrationType } : remote));
  return all.some(isOfType) ? replaced : [...all, { id, integrationType }];
}
