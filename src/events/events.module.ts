import { Module } from '@nestjs/common';
import { EventLeadsService } from './event-leads.service';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

@Module({ controllers: [EventsController], providers: [EventsService, EventLeadsService] })
export class EventsModule {}
