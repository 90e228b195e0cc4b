import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { PageQuery } from '../../fields/page-query';
import { UuidParam } from '../../fields/parameters';
import { Returns, ReturnsPage } from '../../http/pipeline/returns';
import { Scopes } from '../../http/pipeline/scopes';
import { Tag } from '../../http/pipeline/tag';
import { EXAMPLE_ACTIVATION_ID } from '../../openapi/example-ids';
import { ActivationV0Response } from './activation.response';
import { ActivationsService } from './activations.service';

@Tag('Activations', 'Parts of an event with their own time and place: a breakfast, a booth, a panel. Read-only.')
@Controller('activations')
export class ActivationsController {
  constructor(private readonly activations: ActivationsService) {}

  @Get()
  @ApiOperation({
    summary: 'List activations',
    description: 'The activations of all events of the organization. Paginated, oldest first.',
  })
  @ReturnsPage('activations', ActivationV0Response)
  @Scopes('capture')
  listActivations(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.activations.list(caller, page);
  }

  @Get(':activationId')
  @ApiOperation({
    summary: 'Get an activation',
    description: 'An activation with its event, times, location and users.',
  })
  @Returns(ActivationV0Response, 'The activation.')
  @Scopes('capture')
  getActivation(
    @CurrentCaller() caller: Caller,
    @UuidParam('activationId', EXAMPLE_ACTIVATION_ID) activationId: string,
  ) {
    return this.activations.get(caller, activationId);
  }
}
