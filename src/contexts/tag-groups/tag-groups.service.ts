import { Injectable } from '@nestjs/common';
import type { PageQuery } from '../../fields/page-query';
import { arrivalList } from '../../data/database/paginate';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import type { Caller } from '../../http/pipeline/caller';
import { TagGroupEntity } from './tag-group.entity';
import { TAG_GROUP_JSON } from './tag-group.response';

export const LIST_TAG_GROUPS = arrivalList({ entity: TagGroupEntity, rowJson: TAG_GROUP_JSON });

export const GET_TAG_GROUP = {
  name: 'tagGroup.get',
  text: `select ${TAG_GROUP_JSON} from tag_groups where organization_id = $1 and id = $2`,
};

@Injectable()
export class TagGroupsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, page: PageQuery): Promise<Page> {
    return this.statements.paginate(caller, LIST_TAG_GROUPS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, tagGroupId: string): Promise<JsonText> {
    return this.statements.selectOne(caller, GET_TAG_GROUP, [tagGroupId]);
  }
}
