import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { LISTS } from '../database/lists';
import { Json, Page, Statements, TrackedListing } from '../database/statements';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../http/parameters';
import { TAG_GROUP } from './tag-group.response';

const LIST: TrackedListing = { list: LISTS.tagGroups, render: TAG_GROUP };

const ONE = one('select * from tag_groups where organization_id = $1 and id = $2', TAG_GROUP);

@Injectable()
export class TagGroupsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.page(caller, LIST, [], page);
  }

  get(caller: Caller, tagGroupId: string): Promise<Json> {
    return this.statements.one(caller, 'tagGroup', ONE, [tagGroupId]);
  }
}
