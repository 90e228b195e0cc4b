import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../api-schema/parameters';
import { arrivalList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import { TAG_GROUP } from './tag-group.response';

const LIST = arrivalList({ table: 'tag_groups', item: TAG_GROUP });

const GET = {
  name: 'tagGroup.get',
  text: `select ${TAG_GROUP} from tag_groups where organization_id = $1 and id = $2`,
};

@Injectable()
export class TagGroupsRepository {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST, [], page);
  }

  get(caller: Caller, tagGroupId: string): Promise<Json> {
    return this.statements.one(caller, GET, [tagGroupId]);
  }
}
