import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { PageQuery } from '../../fields/page-query';
import { UuidParam } from '../../fields/parameters';
import { Returns, ReturnsPage } from '../../http/pipeline/returns';
import { Scopes } from '../../http/pipeline/scopes';
import { Tag } from '../../http/pipeline/tag';
import { EXAMPLE_TAG_GROUP_ID } from '../../openapi/example-ids';
import { TagGroupV0Response } from './tag-group.response';
import { TagGroupsService } from './tag-groups.service';

@Tag('Tag groups', 'The tags available when capturing a lead. Read-only.')
@Controller('tagGroups')
export class TagGroupsController {
  constructor(private readonly tagGroups: TagGroupsService) {}

  @Get()
  @ApiOperation({
    summary: 'List tag groups',
    description: 'All tag groups of the organization, of every status, with their options. Paginated, oldest first.',
  })
  @ReturnsPage('tagGroups', TagGroupV0Response)
  @Scopes('capture')
  listTagGroups(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.tagGroups.list(caller, page);
  }

  @Get(':tagGroupId')
  @ApiOperation({
    summary: 'Get a tag group',
    description: 'A tag group with its options in display order.',
  })
  @Returns(TagGroupV0Response, 'The tag group.')
  @Scopes('capture')
  getTagGroup(@CurrentCaller() caller: Caller, @UuidParam('tagGroupId', EXAMPLE_TAG_GROUP_ID) tagGroupId: string) {
    return this.tagGroups.get(caller, tagGroupId);
  }
}
