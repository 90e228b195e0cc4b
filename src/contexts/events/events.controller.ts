import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { PageQuery } from '../../fields/page-query';
import { NumericIdParam, UuidParam } from '../../fields/parameters';
import { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from '../../http/pipeline/returns';
import { Scopes } from '../../http/pipeline/scopes';
import { Tag } from '../../http/pipeline/tag';
import { EXAMPLE_LEAD_ID } from '../../openapi/example-ids';
import { EventAddLeadsV0Input, EventCreateV0Input, EventUpdateV0Input, MAX_EVENT_LEADS } from './event.dto';
import { Event, EventLeadV0Response, UserV0Response } from './event.response';
import { EventsService } from './events.service';

@Tag('Events', 'Trade shows, conferences, dinners and other events where the organization meets leads.')
@Controller('events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @ApiOperation({
    summary: 'List events',
    description: 'The events of the organization. Paginated, oldest first.',
  })
  @ReturnsPage('events', Event)
  @Scopes('capture')
  listEvents(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.events.list(caller, page);
  }

  @Get(':eventId')
  @ApiOperation({
    summary: 'Get an event',
    description: 'An event with its location and the IDs of its tag groups.',
  })
  @Returns(Event, 'The event.')
  @Scopes('capture')
  getEvent(@CurrentCaller() caller: Caller, @NumericIdParam('eventId') eventId: number) {
    return this.events.get(caller, eventId);
  }

  @Post()
  @ApiOperation({
    summary: 'Create an event',
    description: 'Creates an event without a location, tag groups, users or leads, and returns it with its ID.',
  })
  @Returns(Event, 'The new event, with its ID.')
  createEvent(@CurrentCaller() caller: Caller, @Body() body: EventCreateV0Input) {
    return this.events.create(caller, body);
  }

  @Put(':eventId')
  @ApiOperation({
    summary: 'Replace an event',
    description:
      'Replaces name, type, dates and registration; an omitted `registrationEnabled` becomes false. Location, tag groups, ' +
      'users, leads and creator remain.',
  })
  @Returns(Event, 'The event as it is now.')
  replaceEvent(
    @CurrentCaller() caller: Caller,
    @NumericIdParam('eventId') eventId: number,
    @Body() body: EventUpdateV0Input,
  ) {
    return this.events.replace(caller, eventId, body);
  }

  @Delete(':eventId')
  @ApiOperation({
    summary: 'Delete an event',
    description:
      'Deletes an event with its activations, user assignments and lead associations. Leads remain, and so do activity ' +
      'events that refer to it: their `associatedEvent` and `associatedActivation` become null.',
  })
  @ReturnsNothing('The event is deleted.')
  deleteEvent(@CurrentCaller() caller: Caller, @NumericIdParam('eventId') eventId: number) {
    return this.events.delete(caller, eventId);
  }

  @Get(':eventId/leads')
  @ApiOperation({
    summary: 'List the leads of an event',
    description:
      'IDs and flags of the leads associated with an event, in order of association. Fetch the leads themselves by ID.',
  })
  @ReturnsPage('eventLeads', EventLeadV0Response)
  listEventLeads(
    @CurrentCaller() caller: Caller,
    @NumericIdParam('eventId') eventId: number,
    @Query() page: PageQuery,
  ) {
    return this.events.listLeads(caller, eventId, page);
  }

  @Put(':eventId/leads')
  @ApiOperation({
    summary: 'Associate leads with an event',
    description:
      'Associates all of the given leads, or none: if one is unknown, the response is 404 and nothing changes. Flags of ' +
      'leads that are already associated are overwritten; omitted flags become false. If a lead appears twice, its last ' +
      'entry applies. Other leads keep their association.',
  })
  @ReturnsList(
    'eventLeads',
    EventLeadV0Response,
    'The associations of the body, each once, in its order.',
    MAX_EVENT_LEADS,
  )
  @Scopes('capture')
  associateEventLeads(
    @CurrentCaller() caller: Caller,
    @NumericIdParam('eventId') eventId: number,
    @Body() body: EventAddLeadsV0Input,
  ) {
    return this.events.associate(caller, eventId, body);
  }

  @Delete(':eventId/leads/:leadId')
  @ApiOperation({
    summary: 'Remove a lead from an event',
    description:
      'Removes the association of a lead with an event. The lead, the event and all other associations remain.',
  })
  @ReturnsNothing('The association is removed.')
  dissociateEventLead(
    @CurrentCaller() caller: Caller,
    @NumericIdParam('eventId') eventId: number,
    @UuidParam('leadId', EXAMPLE_LEAD_ID) leadId: string,
  ) {
    return this.events.dissociate(caller, eventId, leadId);
  }

  @Get(':eventId/users')
  @ApiOperation({
    summary: 'List the users of an event',
    description: 'The users assigned to an event. Paginated. Users are assigned by the operator.',
  })
  @ReturnsPage('users', UserV0Response)
  listEventUsers(
    @CurrentCaller() caller: Caller,
    @NumericIdParam('eventId') eventId: number,
    @Query() page: PageQuery,
  ) {
    return this.events.listUsers(caller, eventId, page);
  }
}
