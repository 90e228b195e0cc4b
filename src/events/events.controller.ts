import { Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, PageQuery, Int64Param } from '../api-schema/parameters';
import { Returns, ReturnsNothing, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { EventCreateV0Input, EventUpdateV0Input } from './event.dto';
import { Event } from './event.response';
import { EventsRepository } from './events.repository';

@Tag('Events', 'Trade shows, conferences, dinners and other events where the organization meets leads.')
@Controller('events')
export class EventsController {
  constructor(private readonly events: EventsRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'List events',
    description: 'The events of the organization. Paginated, oldest first.',
  })
  @ReturnsPage('events', Event)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.events.list(caller, page);
  }

  @Get(':eventId')
  @ApiOperation({
    operationId: 'getEvent',
    summary: 'Get an event',
    description: 'An event with its location and the ids of its tag groups.',
  })
  @Returns(Event)
  get(@CurrentCaller() caller: Caller, @Int64Param('eventId') eventId: number) {
    return this.events.get(caller, eventId);
  }

  @Post()
  @ApiOperation({
    operationId: 'createEvent',
    summary: 'Create an event',
    description: 'Creates an event without a location, tag groups, users or leads, and returns it with its id.',
  })
  @Returns(Event)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: EventCreateV0Input) {
    return this.events.create(caller, body);
  }

  @Put(':eventId')
  @ApiOperation({
    operationId: 'replaceEvent',
    summary: 'Replace an event',
    description:
      'Replaces name, type, dates and registration; an omitted `registrationEnabled` becomes false. Location, tag groups, ' +
      'users, leads and creator remain.',
  })
  @Returns(Event)
  replace(
    @CurrentCaller() caller: Caller,
    @Int64Param('eventId') eventId: number,
    @JsonBody() body: EventUpdateV0Input,
  ) {
    return this.events.replace(caller, eventId, body);
  }

  @Delete(':eventId')
  @ApiOperation({
    operationId: 'deleteEvent',
    summary: 'Delete an event',
    description:
      'Deletes an event with its activations, user assignments and lead associations. Leads remain, and so do activity ' +
      'events that refer to it: their `associatedEvent` and `associatedActivation` become null.',
  })
  @ReturnsNothing()
  delete(@CurrentCaller() caller: Caller, @Int64Param('eventId') eventId: number) {
    return this.events.delete(caller, eventId);
  }
}
