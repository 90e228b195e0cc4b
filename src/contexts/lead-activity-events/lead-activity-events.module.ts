import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LeadActivityEventEntity } from './lead-activity-event.entity';
import { LeadActivityEventsController } from './lead-activity-events.controller';
import { LeadActivityEventsService } from './lead-activity-events.service';

@Module({
  imports: [TypeOrmModule.forFeature([LeadActivityEventEntity])],
  controllers: [LeadActivityEventsController],
  providers: [LeadActivityEventsService],
  exports: [LeadActivityEventsService],
})
export class LeadActivityEventsModule {}
