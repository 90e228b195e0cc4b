import { Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, UuidParam } from '../http/parameters';
import { Returns, ReturnsList, ReturnsPage } from '../http/returns';
import { BookmarksService } from './bookmarks.service';
import { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import { BookmarkResult, IndustryEventCreation, IndustryEventV0Response } from './industry-event.response';
import { IndustryEventsService } from './industry-events.service';

/** The catalogue is everybody's; only bookmarks belong to an organization. */
@ApiTags('Industry events')
@Controller('industryEvents')
export class IndustryEventsController {
  constructor(
    private readonly industryEvents: IndustryEventsService,
    private readonly bookmarks: BookmarksService,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listIndustryEvents', summary: 'List or search the catalogue of industry events' })
  @ReturnsPage('industryEvents', IndustryEventV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: IndustryEventsQuery) {
    return this.industryEvents.list(caller, query);
  }

  /** Stands before the route of one record, which would take `bookmarks` for an id. */
  @Get('bookmarks')
  @ApiOperation({ operationId: 'listBookmarkedIndustryEvents', summary: 'List all bookmarked industry events' })
  @ReturnsList('industryEvents', IndustryEventV0Response)
  listBookmarked(@CurrentCaller() caller: Caller) {
    return this.bookmarks.list(caller);
  }

  @Get(':industryEventId')
  @ApiOperation({ operationId: 'getIndustryEvent', summary: 'Get one industry event, with its bookmark' })
  @Returns(IndustryEventV0Response, 'industryEvent')
  get(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.industryEvents.get(caller, industryEventId);
  }

  @Post()
  @ApiOperation({ operationId: 'createIndustryEvent', summary: 'Create an industry event, unless its URL is known' })
  @Returns(IndustryEventCreation)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: IndustryEventCreateV0Input) {
    return this.industryEvents.create(caller, body);
  }

  @Put(':industryEventId')
  @ApiOperation({ operationId: 'updateIndustryEvent', summary: 'Change some fields of an industry event' })
  @Returns(IndustryEventV0Response, 'industryEvent')
  update(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId') industryEventId: string,
    @JsonBody() body: IndustryEventUpdateV0Input,
  ) {
    return this.industryEvents.update(caller, industryEventId, body);
  }

  @Post(':industryEventId/bookmark')
  @ApiOperation({ operationId: 'bookmarkIndustryEvent', summary: 'Bookmark an industry event' })
  @Returns(BookmarkResult)
  bookmark(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.add(caller, industryEventId);
  }

  @Delete(':industryEventId/bookmark')
  @ApiOperation({ operationId: 'removeIndustryEventBookmark', summary: 'Remove the bookmark of an industry event' })
  @Returns(BookmarkResult)
  removeBookmark(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.remove(caller, industryEventId);
  }
}
