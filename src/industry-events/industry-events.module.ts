import { Module } from '@nestjs/common';
import { BookmarksService } from './bookmarks.service';
import { IndustryEventsController } from './industry-events.controller';
import { IndustryEventsService } from './industry-events.service';

@Module({ controllers: [IndustryEventsController], providers: [IndustryEventsService, BookmarksService] })
export class IndustryEventsModule {}
