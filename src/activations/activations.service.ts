import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { Json, ListStatement, Page, Reads } from '../database/reads';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import { ACTIVATION } from './activation.response';

const LIST: ListStatement = {
  name: 'activations',
  rows: 'select * from activations where organization_id = $1 order by created_at, id',
  render: ACTIVATION,
  total: 'select count(*) from activations where organization_id = $1',
};

const ONE = one('select * from activations where organization_id = $1 and id = $2', ACTIVATION);

@Injectable()
export class ActivationsService {
  constructor(private readonly reads: Reads) {}

  list({ organizationId }: Caller, page: PageQuery): Promise<Page> {
    return this.reads.page(LIST, [organizationId], page);
  }

  get({ organizationId }: Caller, activationId: string): Promise<Json> {
    return this.reads.one('activation', ONE, [organizationId, activationId]);
  }
}
