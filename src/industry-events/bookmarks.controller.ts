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
    description: 'All industry events that the organization has bookmarked, oldest first, without pagination.',
  })
  @ReturnsList('industryEvents', IndustryEventV0Response)
  list(@CurrentCaller() caller: Caller) {
    return this.bookmarks.list(caller);
  }

  @Post(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'bookmarkIndustryEvent',
    summary: 'Bookmark an industry event',
    description: 'Bookmarks an industry event for the organization. Has no effect if it is already bookmarked.',
  })
  @Returns(BookmarkResult)
  add(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.add(caller, industryEventId);
  }

  @Delete(':industryEventId/bookmark')
  @ApiOperation({
    operationId: 'removeIndustryEventBookmark',
    summary: 'Remove a bookmark',
    description: "Removes the organization's bookmark from an industry event. Has no effect if there is none.",
  })
  @Returns(BookmarkResult)
  remove(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.bookmarks.remove(caller, industryEventId);
  }
}
