import { feedResource, uuidKey } from '../../feed/changes/feed-resource';
import { EXAMPLE_TAG_GROUP_ID } from '../../openapi/example-ids';
import { TAG_GROUPS } from './tag-group.dataset';
import { TagGroupEntity } from './tag-group.entity';
import { TAG_GROUP_JSON, TagGroupV0Response } from './tag-group.response';
import { TagGroupsModule } from './tag-groups.module';

export const TAG_GROUPS_CONTEXT = {
  module: TagGroupsModule,
  sections: { tagGroups: TAG_GROUPS },
  feedResources: [
    feedResource(TagGroupEntity, {
      name: 'tagGroups',
      number: 1,
      model: TagGroupV0Response,
      recordSql: TAG_GROUP_JSON,
      key: uuidKey(EXAMPLE_TAG_GROUP_ID),
      childTable: { name: 'tag_options', parentColumn: 'tag_group_id' },
    }),
  ],
};
