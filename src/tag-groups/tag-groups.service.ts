import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { LISTS } from '../database/lists';
import { tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import type { PageQuery } from '../api-schema/parameters';
import { TAG_GROUP } from './tag-group.response';

const LIST = tracked(LISTS.tagGroups, TAG_GROUP);

const ONE = {
  name: 'tagGroup',
  text: one('select * from tag_groups where organization_id = $1 and id = $2', TAG_GROUP),
};

@Injectable()
export class TagGroupsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.page(caller, LIST, [], page);
  }

  get(caller: Caller, tagGroupId: string): Promise<Json> {
    return this.statements.one(caller, ONE, [tagGroupId]);
  }
}
