import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { UuidParam } from '../../fields/parameters';
import { EXAMPLE_INDUSTRY_EVENT_ID } from '../../openapi/example-ids';
import { Returns, ReturnsList, ReturnsPage } from '../../http/pipeline/returns';
import { Scopes } from '../../http/pipeline/scopes';
import { Tag } from '../../http/pipeline/tag';
import { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import {
  BookmarkResult,
  IndustryEventCreation,
  IndustryEventV0Response,
  IndustryEventWithBookmark,
} from './industry-event.response';
import { IndustryEventsService } from './industry-events.service';

@Tag(
  'Industry events',
  'A catalog of trade shows and conferences shared by all organizations, and the bookmarks of each.',
)
@Controller('industryEvents')
export class IndustryEventsController {
  constructor(private readonly industryEvents: IndustryEventsService) {}

  // This route precedes that of one record, which would take `bookmarks` for an ID.
  @Get('bookmarks')
  @ApiOperation({
    summary: 'List bookmarked industry events',
    description: 'All industry events that the organization has bookmarked, oldest first, without pagination.',
  })
  @ReturnsList('industryEvents', IndustryEventV0Response, 'All bookmarked industry events.')
  @Scopes('capture')
  listBookmarkedIndustryEvents(@CurrentCaller() caller: Caller) {
    return this.industryEvents.listBookmarked(caller);
  }

  @Post(':industryEventId/bookmark')
  @ApiOperation({
    summary: 'Bookmark an industry event',
    description: 'Bookmarks an industry event for the organization. Has no effect if it is already bookmarked.',
  })
  @Returns(BookmarkResult, 'The industry event is bookmarked.')
  bookmarkIndustryEvent(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId', EXAMPLE_INDUSTRY_EVENT_ID) industryEventId: string,
  ) {
    return this.industryEvents.addBookmark(caller, industryEventId);
  }

  @Delete(':industryEventId/bookmark')
  @ApiOperation({
    summary: 'Remove a bookmark',
    description: "Removes the organization's bookmark from an industry event. Has no effect if there is none.",
  })
  @Returns(BookmarkResult, 'The industry event is not bookmarked.')
  removeIndustryEventBookmark(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId', EXAMPLE_INDUSTRY_EVENT_ID) industryEventId: string,
  ) {
    return this.industryEvents.removeBookmark(caller, industryEventId);
  }

  @Get()
  @ApiOperation({
    summary: 'List or search industry events',
    description:
      'The catalog, paginated, oldest first. With `eventUrl`, the record with that URL; with `q`, the results of a ' +
      'full-text search, best match first.',
  })
  @ReturnsPage('industryEvents', IndustryEventV0Response)
  @Scopes('capture')
  listIndustryEvents(@CurrentCaller() caller: Caller, @Query() query: IndustryEventsQuery) {
    return this.industryEvents.list(caller, query);
  }

  @Get(':industryEventId')
  @ApiOperation({
    summary: 'Get an industry event',
    description: 'An industry event, with whether the organization has bookmarked it.',
  })
  @Returns(IndustryEventWithBookmark, 'The industry event.', 'industryEvent')
  @Scopes('capture')
  getIndustryEvent(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId', EXAMPLE_INDUSTRY_EVENT_ID) industryEventId: string,
  ) {
    return this.industryEvents.get(caller, industryEventId);
  }

  @Post()
  @ApiOperation({
    summary: 'Create an industry event',
    description:
      'Adds a record to the catalog shared by all organizations. If a record with the same `eventUrl` exists, it is ' +
      'returned unchanged, with `created` false. Otherwise the response also lists up to 50 potential duplicates: ' +
      'older records with the same name and the same start, or both without a start.',
  })
  @Returns(IndustryEventCreation, 'The new record, or the one that has the `eventUrl` already.')
  createIndustryEvent(@CurrentCaller() caller: Caller, @Body() body: IndustryEventCreateV0Input) {
    return this.industryEvents.create(caller, body);
  }

  @Put(':industryEventId')
  @ApiOperation({
    summary: 'Update an industry event',
    description:
      'Updates the given fields for all organizations. Null clears a field; omitted fields keep their values. An ' +
      '`eventUrl` that another record has is rejected.',
  })
  @Returns(IndustryEventV0Response, 'The industry event as it is now.', 'industryEvent')
  updateIndustryEvent(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId', EXAMPLE_INDUSTRY_EVENT_ID) industryEventId: string,
    @Body() body: IndustryEventUpdateV0Input,
  ) {
    return this.industryEvents.update(caller, industryEventId, body);
  }
}
