import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { PageQuery, UuidParam } from '../http/parameters';
import { Returns, ReturnsPage } from '../http/returns';
import { ActivationV0Response } from './activation.response';
import { ActivationsService } from './activations.service';

@ApiTags('Activations')
@Controller('activations')
export class ActivationsController {
  constructor(private readonly activations: ActivationsService) {}

  @Get()
  @ApiOperation({ operationId: 'listActivations', summary: "List the organization's activations" })
  @ReturnsPage('activations', ActivationV0Response)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.activations.list(caller, page);
  }

  @Get(':activationId')
  @ApiOperation({ operationId: 'getActivation', summary: 'Get one activation' })
  @Returns(ActivationV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('activationId') activationId: string) {
    return this.activations.get(caller, activationId);
  }
}
