import { Module } from '@nestjs/common';
import { BookmarksController } from './bookmarks.controller';
import { BookmarksRepository } from './bookmarks.repository';
import { IndustryEventsController } from './industry-events.controller';
import { IndustryEventsRepository } from './industry-events.repository';
import { IndustryEventsService } from './industry-events.service';

/** Bookmarks come first: the route of one record would take `bookmarks` for an id. */
@Module({
  controllers: [BookmarksController, IndustryEventsController],
  providers: [IndustryEventsService, IndustryEventsRepository, BookmarksRepository],
})
export class IndustryEventsModule {}
