import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { UuidParam } from '../http/parameters';
import { Returns, ReturnsPage } from '../http/returns';
import { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LeadActivityEventV0Response } from './lead-activity-event.response';
import { LeadActivityEventsService } from './lead-activity-events.service';

@ApiTags('Lead activity events')
@Controller('leadActivityEvents')
export class LeadActivityEventsController {
  constructor(private readonly leadActivityEvents: LeadActivityEventsService) {}

  @Get()
  @ApiOperation({ operationId: 'listLeadActivityEvents', summary: 'List activity events, all or of a lead or a type' })
  @ReturnsPage('leadActivityEvents', LeadActivityEventV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: LeadActivityEventsQuery) {
    return this.leadActivityEvents.list(caller, query);
  }

  @Get(':leadActivityEventId')
  @ApiOperation({ operationId: 'getLeadActivityEvent', summary: 'Get one activity event' })
  @Returns(LeadActivityEventV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('leadActivityEventId') leadActivityEventId: string) {
    return this.leadActivityEvents.get(caller, leadActivityEventId);
  }
}
