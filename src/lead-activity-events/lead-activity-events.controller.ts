import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LeadActivityEventV0Response } from './lead-activity-event.response';
import { LeadActivityEventsRepository } from './lead-activity-events.repository';

@Tag(
  'Lead activity events',
  'What was done with leads: notes, calls, messages, associations with campaigns. Read-only.',
)
@Controller('leadActivityEvents')
export class LeadActivityEventsController {
  constructor(private readonly leadActivityEvents: LeadActivityEventsRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'listLeadActivityEvents',
    summary: 'List activity events',
    description:
      'What was done with leads, page by page, oldest first: all of it, or that of one lead, of one type, or both.',
  })
  @ReturnsPage('leadActivityEvents', LeadActivityEventV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: LeadActivityEventsQuery) {
    return this.leadActivityEvents.list(caller, query);
  }

  @Get(':leadActivityEventId')
  @ApiOperation({
    operationId: 'getLeadActivityEvent',
    summary: 'Get an activity event',
    description: 'One record of what was done with a lead.',
  })
  @Returns(LeadActivityEventV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('leadActivityEventId') leadActivityEventId: string) {
    return this.leadActivityEvents.get(caller, leadActivityEventId);
  }
}
