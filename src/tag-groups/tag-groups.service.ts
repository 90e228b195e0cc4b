import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { Json, ListStatement, Page, Reads } from '../database/reads';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import { TAG_GROUP } from './tag-group.response';

const LIST: ListStatement = {
  name: 'tagGroups',
  rows: 'select * from tag_groups where organization_id = $1 order by created_at, id',
  render: TAG_GROUP,
  total: 'select count(*) from tag_groups where organization_id = $1',
};

const ONE = one('select * from tag_groups where organization_id = $1 and id = $2', TAG_GROUP);

@Injectable()
export class TagGroupsService {
  constructor(private readonly reads: Reads) {}

  list({ organizationId }: Caller, page: PageQuery): Promise<Page> {
    return this.reads.page(LIST, [organizationId], page);
  }

  get({ organizationId }: Caller, tagGroupId: string): Promise<Json> {
    return this.reads.one('tagGroup', ONE, [organizationId, tagGroupId]);
  }
}
