import { Module } from '@nestjs/common';
import { BookmarksController } from './bookmarks.controller';
import { BookmarksService } from './bookmarks.service';
import { IndustryEventsController } from './industry-events.controller';
import { IndustryEventsService } from './industry-events.service';

/** Bookmarks come first: the route of one record would take `bookmarks` for an id. */
@Module({
  controllers: [BookmarksController, IndustryEventsController],
  providers: [IndustryEventsService, BookmarksService],
})
export class IndustryEventsModule {}
