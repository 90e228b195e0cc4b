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
      'Ids and flags of the leads associated with an event, in order of association. Fetch the leads themselves by id.',
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
      'Associates all of the given leads, or none: if one is unknown, the response is 404 and nothing changes. Flags of ' +
      'leads that are already associated are overwritten; omitted flags become false. If a lead appears twice, its last ' +
      'entry applies. Other leads keep their association.',
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
    description:
      'Removes the association of a lead with an event. The lead, the event and all other associations remain.',
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
    description: 'The users assigned to an event. Paginated. Users are assigned by the operator.',
  })
  @ReturnsPage('users', UserV0Response)
  users(@CurrentCaller() caller: Caller, @Int64Param('eventId') eventId: number, @Query() page: PageQuery) {
    return this.eventLeads.users(caller, eventId, page);
  }
}
