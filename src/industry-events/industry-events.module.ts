import { Module } from '@nestjs/common';
import { IndustryEventsController } from './industry-events.controller';
import { IndustryEventsRepository } from './industry-events.repository';
import { IndustryEventsService } from './industry-events.service';

@Module({ controllers: [IndustryEventsController], providers: [IndustryEventsService, IndustryEventsRepository] })
export class IndustryEventsModule {}
