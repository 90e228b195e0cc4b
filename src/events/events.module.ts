import { Module } from '@nestjs/common';
import { EventLeadsController } from './event-leads.controller';
import { EventLeadsRepository } from './event-leads.repository';
import { EventsController } from './events.controller';
import { EventsRepository } from './events.repository';

@Module({ controllers: [EventsController, EventLeadsController], providers: [EventsRepository, EventLeadsRepository] })
export class EventsModule {}
