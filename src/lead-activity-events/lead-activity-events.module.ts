import { Module } from '@nestjs/common';
import { LeadActivityEventsController } from './lead-activity-events.controller';
import { LeadActivityEventsRepository } from './lead-activity-events.repository';

@Module({ controllers: [LeadActivityEventsController], providers: [LeadActivityEventsRepository] })
export class LeadActivityEventsModule {}
