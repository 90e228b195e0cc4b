import { Module } from '@nestjs/common';
import { LeadActivityEventsController } from './lead-activity-events.controller';
import { LeadActivityEventsService } from './lead-activity-events.service';

@Module({ controllers: [LeadActivityEventsController], providers: [LeadActivityEventsService] })
export class LeadActivityEventsModule {}
