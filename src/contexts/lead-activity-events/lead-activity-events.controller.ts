import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { UuidParam } from '../../fields/parameters';
import { Returns, ReturnsPage } from '../../http/pipeline/returns';
import { Tag } from '../../http/pipeline/tag';
import { EXAMPLE_LEAD_ACTIVITY_EVENT_ID } from '../../openapi/example-ids';
import { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LeadActivityEventV0Response } from './lead-activity-event.response';
import { LeadActivityEventsService } from './lead-activity-events.service';

@Tag('Lead activity events', 'The history of leads: notes, calls, messages, associations with campaigns. Read-only.')
@Controller('leadActivityEvents')
export class LeadActivityEventsController {
  constructor(private readonly leadActivityEvents: LeadActivityEventsService) {}

  @Get()
  @ApiOperation({
    summary: 'List activity events',
    description:
      'Activity events of the organization, optionally of one lead, of one type, or both. Paginated, oldest first.',
  })
  @ReturnsPage('leadActivityEvents', LeadActivityEventV0Response)
  listLeadActivityEvents(@CurrentCaller() caller: Caller, @Query() query: LeadActivityEventsQuery) {
    return this.leadActivityEvents.list(caller, query);
  }

  @Get(':leadActivityEventId')
  @ApiOperation({
    summary: 'Get an activity event',
    description: 'An activity event.',
  })
  @Returns(LeadActivityEventV0Response, 'The activity event.')
  getLeadActivityEvent(
    @CurrentCaller() caller: Caller,
    @UuidParam('leadActivityEventId', EXAMPLE_LEAD_ACTIVITY_EVENT_ID) leadActivityEventId: string,
  ) {
    return this.leadActivityEvents.get(caller, leadActivityEventId);
  }
}
