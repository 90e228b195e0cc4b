import { Controller, Delete, Get, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, PageQuery, UuidParam, Int64Param } from '../api-schema/parameters';
import { ReturnsList, ReturnsNothing, ReturnsPage } from '../api-schema/returns';
import { EventAddLeadsV0Input, MAX_EVENT_LEADS } from './event.dto';
import { EventLeadsRepository } from './event-leads.repository';
import { EventLeadV0Response, UserV0Response } from './event.response';

/** Who belongs to an event: leads, with their flags, and users. */
@ApiTags('Events')
@Controller('events/:eventId')
export class EventLeadsController {
  constructor(private readonly eventLeads: EventLeadsRepository) {}

  @Get('leads')
  @ApiOperation({
    operationId: 'listEventLeads',
    summary: 'List the leads of an event',
    description:
      'Ids and flags of the leads that are associated with the event, in the order of association. The leads ' +
      'themselves are read by their ids.',
  })
  @ReturnsPage('eventLeads', EventLeadV0Response)
  leads(@CurrentCaller() caller: Caller, @Int64Param('eventId') eventId: number, @Query() page: PageQuery) {
    return this.eventLeads.list(caller, eventId, page);
  }

  @Put('leads')
  @ApiOperation({
    operationId: 'associateEventLeads',
    summary: 'Associate leads with an event',
    description:
      'All of the leads or none: when one of them is unknown, the answer is 404 and nothing changes. The flags of a ' +
      'lead that is associated already are overwritten, and those that are left out become false. Of a lead that ' +
      'stands in the body twice, the last entry counts. Leads that are not in the body keep their association.',
  })
  @ReturnsList('eventLeads', EventLeadV0Response, MAX_EVENT_LEADS)
  associate(
    @CurrentCaller() caller: Caller,
    @Int64Param('eventId') eventId: number,
    @JsonBody() body: EventAddLeadsV0Input,
  ) {
    return this.eventLeads.associate(caller, eventId, body);
  }

  @Delete('leads/:leadId')
  @ApiOperation({
    operationId: 'dissociateEventLead',
    summary: 'Remove a lead from an event',
    description: 'Ends the association of one lead with the event. Both stay, and so do all other associations.',
  })
  @ReturnsNothing()
  dissociate(
    @CurrentCaller() caller: Caller,
    @Int64Param('eventId') eventId: number,
    @UuidParam('leadId') leadId: string,
  ) {
    return this.eventLeads.dissociate(caller, eventId, leadId);
  }

  @Get('users')
  @ApiOperation({
    operationId: 'listEventUsers',
    summary: 'List the users of an event',
    description:
      'The users of the organization who are assigned to the event, page by page. The operator assigns them.',
  })
  @ReturnsPage('users', UserV0Response)
  users(@CurrentCaller() caller: Caller, @Int64Param('eventId') eventId: number, @Query() page: PageQuery) {
    return this.eventLeads.users(caller, eventId, page);
  }
}
