import { Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { EventIdParam, JsonBody, PageQuery, UuidParam } from '../http/parameters';
import { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from '../http/returns';
import { EventAddLeadsV0Input, EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { EventLeadsService } from './event-leads.service';
import { Event, EventLeadV0Response, UserV0Response } from './event.response';
import { EventsService } from './events.service';

@ApiTags('Events')
@Controller('events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly eventLeads: EventLeadsService,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listEvents', summary: "List the organization's events" })
  @ReturnsPage('events', Event)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.events.list(caller, page);
  }

  @Get(':eventId')
  @ApiOperation({ operationId: 'getEvent', summary: 'Get one event' })
  @Returns(Event)
  get(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number) {
    return this.events.get(caller, eventId);
  }

  @Post()
  @ApiOperation({ operationId: 'createEvent', summary: 'Create an event' })
  @Returns(Event)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: EventCreateV0Input) {
    return this.events.create(caller, body);
  }

  @Put(':eventId')
  @ApiOperation({ operationId: 'replaceEvent', summary: 'Replace an event' })
  @Returns(Event)
  replace(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number, @JsonBody() body: EventUpdateV0Input) {
    return this.events.replace(caller, eventId, body);
  }

  @Delete(':eventId')
  @ApiOperation({ operationId: 'deleteEvent', summary: 'Delete an event with its associations and activations' })
  @ReturnsNothing()
  delete(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number) {
    return this.events.delete(caller, eventId);
  }

  @Get(':eventId/leads')
  @ApiOperation({ operationId: 'listEventLeads', summary: 'List the leads of an event with their flags' })
  @ReturnsPage('eventLeads', EventLeadV0Response)
  leads(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number, @Query() page: PageQuery) {
    return this.eventLeads.list(caller, eventId, page);
  }

  @Put(':eventId/leads')
  @ApiOperation({ operationId: 'associateEventLeads', summary: 'Associate leads with an event, all or none' })
  @ReturnsList('eventLeads', EventLeadV0Response)
  associate(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number, @JsonBody() body: EventAddLeadsV0Input) {
    return this.eventLeads.associate(caller, eventId, body);
  }

  @Delete(':eventId/leads/:leadId')
  @ApiOperation({ operationId: 'dissociateEventLead', summary: "Remove one lead's association with an event" })
  @ReturnsNothing()
  dissociate(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number, @UuidParam('leadId') leadId: string) {
    return this.eventLeads.dissociate(caller, eventId, leadId);
  }

  @Get(':eventId/users')
  @ApiOperation({ operationId: 'listEventUsers', summary: 'List the users assigned to an event' })
  @ReturnsPage('users', UserV0Response)
  users(@CurrentCaller() caller: Caller, @EventIdParam() eventId: number, @Query() page: PageQuery) {
    return this.events.users(caller, eventId, page);
  }
}
