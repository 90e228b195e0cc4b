import { Module } from '@nestjs/common';
import { EventLeadsController } from './event-leads.controller';
import { EventLeadsService } from './event-leads.service';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

@Module({ controllers: [EventsController, EventLeadsController], providers: [EventsService, EventLeadsService] })
export class EventsModule {}
