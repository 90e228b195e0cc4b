import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { PageQuery, UuidParam } from '../http/parameters';
import { Returns, ReturnsPage } from '../http/returns';
import { TagGroupV0Response } from './tag-group.response';
import { TagGroupsService } from './tag-groups.service';

@ApiTags('Tag groups')
@Controller('tagGroups')
export class TagGroupsController {
  constructor(private readonly tagGroups: TagGroupsService) {}

  @Get()
  @ApiOperation({ operationId: 'listTagGroups', summary: "List the organization's tag groups with their options" })
  @ReturnsPage('tagGroups', TagGroupV0Response)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.tagGroups.list(caller, page);
  }

  @Get(':tagGroupId')
  @ApiOperation({ operationId: 'getTagGroup', summary: 'Get one tag group' })
  @Returns(TagGroupV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('tagGroupId') tagGroupId: string) {
    return this.tagGroups.get(caller, tagGroupId);
  }
}
