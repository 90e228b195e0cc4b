import { Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsList, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import {
  BookmarkResult,
  IndustryEventCreation,
  IndustryEventV0Response,
  IndustryEventWithBookmark,
} from './industry-event.response';
import { IndustryEventsRepository } from './industry-events.repository';
import { IndustryEventsService } from './industry-events.service';

@Tag(
  'Industry events',
  'A catalogue of trade shows and conferences shared by all organizations, and the bookmarks of each.',
)
@Controller('industryEvents')
export class IndustryEventsController {
  constructor(
    private readonly industryEvents: IndustryEventsService,
    private readonly repository: IndustryEventsRepository,
  ) {}

  // Before the route of one record, which would take `bookmarks` for an id.
  @Get('bookmarks')
  @ApiOperation({
    operationId: 'listBookmarkedIndustryEvents',
    summary: 'List bookmarked industry events',
    description: 'All industry events that the organization has bookmarked, oldest first, without pagination.',
  })
  @ReturnsList('industryEvents', IndustryEventV0Response)
  bookmarked(@CurrentCaller() caller: Caller) {
    return this.repository.bookmarked(caller);
  }

  @Post(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'bookmarkIndustryEvent',
    summary: 'Bookmark an industry event',
    description: 'Bookmarks an industry event for the organization. Has no effect if it is already bookmarked.',
  })
  @Returns(BookmarkResult)
  addBookmark(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.repository.addBookmark(caller, industryEventId);
  }

  @Delete(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'removeIndustryEventBookmark',
    summary: 'Remove a bookmark',
    description: "Removes the organization's bookmark from an industry event. Has no effect if there is none.",
  })
  @Returns(BookmarkResult)
  removeBookmark(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.repository.removeBookmark(caller, industryEventId);
  }

  @Get()
  @ApiOperation({
    operationId: 'listIndustryEvents',
    summary: 'List or search industry events',
    description:
      'The catalogue, paginated, oldest first. With `eventUrl`, the record with that URL; with `q`, the results of a ' +
      'full-text search, best match first.',
  })
  @ReturnsPage('industryEvents', IndustryEventV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: IndustryEventsQuery) {
    return this.industryEvents.list(caller, query);
  }

  @Get(':industryEventId')
  @ApiOperation({
    operationId: 'getIndustryEvent',
    summary: 'Get an industry event',
    description: 'An industry event, with whether the organization has bookmarked it.',
  })
  @Returns(IndustryEventWithBookmark, 'industryEvent')
  get(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.repository.get(caller, industryEventId);
  }

  @Post()
  @ApiOperation({
    operationId: 'createIndustryEvent',
    summary: 'Create an industry event',
    description:
      'Adds a record to the catalogue shared by all organizations. If a record with the same `eventUrl` exists, it is ' +
      'returned unchanged, with `created` false. Otherwise the response also lists up to 50 potential duplicates: ' +
      'older records with the same name and the same start, or both without a start.',
  })
  @Returns(IndustryEventCreation)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: IndustryEventCreateV0Input) {
    return this.repository.create(caller, body);
  }

  @Put(':industryEventId')
  @ApiOperation({
    operationId: 'updateIndustryEvent',
    summary: 'Update an industry event',
    description:
      'Updates the given fields for all organizations. Null clears a field; omitted fields keep their values. An ' +
      '`eventUrl` that another record has is rejected.',
  })
  @Returns(IndustryEventV0Response, 'industryEvent')
  update(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId') industryEventId: string,
    @JsonBody({ allOptional: true }) body: IndustryEventUpdateV0Input,
  ) {
    return this.industryEvents.update(caller, industryEventId, body);
  }
}
