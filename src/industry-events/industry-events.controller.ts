import { Controller, Get, Post, Put, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { IndustryEventCreateV0Input, IndustryEventsQuery, IndustryEventUpdateV0Input } from './industry-event.dto';
import { IndustryEventCreation, IndustryEventV0Response, IndustryEventWithBookmark } from './industry-event.response';
import { IndustryEventsRepository } from './industry-events.repository';
import { IndustryEventsService } from './industry-events.service';

@Tag(
  'Industry events',
  'A catalogue of trade shows and conferences that all organizations share, and the bookmarks of each.',
)
@Controller('industryEvents')
export class IndustryEventsController {
  constructor(
    private readonly industryEvents: IndustryEventsService,
    private readonly repository: IndustryEventsRepository,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listIndustryEvents',
    summary: 'List or search industry events',
    description:
      'The whole catalogue, page by page, in the order of creation; with `eventUrl` the one record of that URL; with `q` ' +
      'what a full-text search finds, best matches first.',
  })
  @ReturnsPage('industryEvents', IndustryEventV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: IndustryEventsQuery) {
    return this.industryEvents.list(caller, query);
  }

  @Get(':industryEventId')
  @ApiOperation({
    operationId: 'getIndustryEvent',
    summary: 'Get an industry event',
    description: 'One industry event, and whether the organization bookmarked it.',
  })
  @Returns(IndustryEventWithBookmark, 'industryEvent')
  get(@CurrentCaller() caller: Caller, @UuidParam('industryEventId') industryEventId: string) {
    return this.repository.get(caller, industryEventId);
  }

  @Post()
  @ApiOperation({
    operationId: 'createIndustryEvent',
    summary: 'Create an industry event',
    description:
      'Adds a record to the catalogue that all organizations share. When one with the same `eventUrl` exists, nothing is ' +
      'changed and that one is returned, with `created` false. Otherwise older records of the same name and start, ' +
      'or of the same name and none, are returned as potential duplicates beside the new one, 50 at most.',
  })
  @Returns(IndustryEventCreation)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: IndustryEventCreateV0Input) {
    return this.repository.create(caller, body);
  }

  @Put(':industryEventId')
  @ApiOperation({
    operationId: 'updateIndustryEvent',
    summary: 'Change an industry event',
    description:
      'Changes the fields that the body has, for all organizations: null clears one, and what is left out stays. An ' +
      '`eventUrl` that another record has is refused.',
  })
  @Returns(IndustryEventV0Response, 'industryEvent')
  update(
    @CurrentCaller() caller: Caller,
    @UuidParam('industryEventId') industryEventId: string,
    @JsonBody({ allOptional: true }) body: IndustryEventUpdateV0Input,
  ) {
    return this.industryEvents.update(caller, industryEventId, body);
  }
}
