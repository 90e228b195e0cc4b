import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsList } from '../api-schema/returns';
import { BookmarksRepository } from './bookmarks.repository';
import { BookmarkResult, IndustryEventV0Response } from './industry-event.response';

/** The catalogue is everybody's; bookmarks belong to an organization. */
@ApiTags('Industry events')
@Controller('industryEvents')
export class BookmarksController {
  constructor(private readonly bookmarks: BookmarksRepository) {}

  @Get('bookmarks')
  @ApiOperation({
    operationId: 'listBookmarkedIndustryEvents',
    summary: 'List bookmarked industry events',
    description:
      'All industry events that the organization bookmarked, in one answer, in the order in which they were created.',
  })
  @ReturnsList('industryEvents', IndustryEventV0Response)
  list(@CurrentCaller() caller: Caller) {
    return this.bookmarks.list(caller);
  }

  @Post(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'bookmarkIndustryEvent',
    summary: 'Bookmark an industry event',
    description: 'Bookmarks the industry event for the organization. One that is bookmarked stays so.',
  })
  @Returns(BookmarkResult)
  add(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.add(caller, industryEventId);
  }

  @Delete(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'removeIndustryEventBookmark',
    summary: 'Remove a bookmark',
    description: "Takes the organization's bookmark from the industry event. One that has none stays without.",
  })
  @Returns(BookmarkResult)
  remove(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.remove(caller, industryEventId);
  }
}
