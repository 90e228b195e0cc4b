import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { LeadBatchV0Input, LeadCreateV0Input, LeadPatchV0Input, LeadsQuery, MAX_BATCHED_LEADS } from './lead.dto';
import { LeadUpsertV0Response, LeadV0Response } from './lead.response';
import { LeadsRepository } from './leads.repository';
import { LeadsService } from './leads.service';

@Tag('Leads', 'People whom the organization met: who they are, how to reach them, and what was noted.')
@Controller('leads')
export class LeadsController {
  constructor(
    private readonly leads: LeadsService,
    private readonly repository: LeadsRepository,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listLeads',
    summary: 'List leads',
    description:
      "The organization's leads with all that belongs to them, page by page, in the order in which they were created: all " +
      'of them, those with an e-mail address, those with a remote id, or those with both.',
  })
  @ReturnsPage('leads', LeadV0Response)
  list(@CurrentCaller() caller: Caller, @Query() query: LeadsQuery) {
    return this.leads.list(caller, query);
  }

  @Get(':leadId')
  @ApiOperation({
    operationId: 'getLead',
    summary: 'Get a lead',
    description: 'One lead with its phone numbers, company, tags, activations, activity events and remote ids.',
  })
  @Returns(LeadV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.repository.get(caller, leadId);
  }

  @Post()
  @ApiOperation({
    operationId: 'createLead',
    summary: 'Create a lead',
    description:
      'Makes a lead that is not enriched and was never scanned. `companyName` becomes the name of its company, and ' +
      'the phone numbers count as provided by the lead. Send an `Idempotency-Key`: a lead has no natural key, and a ' +
      'request that is sent twice without one makes two leads.',
  })
  @Returns(LeadV0Response)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: LeadCreateV0Input) {
    return this.repository.create(caller, body);
  }

  @Post('batch')
  @ApiOperation({
    operationId: 'upsertLeads',
    summary: 'Create or update many leads',
    description:
      'All entries or none. An entry updates the first lead of the list that has its `email`, in any letter case, or its ' +
      '`remoteId`, as `matchBy` says, and creates a lead when none has it. However many batches run at once, no two of ' +
      'them create leads with one value. The fields that a new lead must have are checked after all others. The results ' +
      'stand in the order of the entries.',
  })
  @ReturnsList('leads', LeadUpsertV0Response, MAX_BATCHED_LEADS)
  upsert(@CurrentCaller() caller: Caller, @JsonBody() body: LeadBatchV0Input) {
    return this.leads.upsert(caller, body);
  }

  @Patch(':leadId')
  @ApiOperation({
    operationId: 'patchLead',
    summary: 'Change a lead',
    description:
      'Changes the fields that the body has: null clears one, and what is left out stays. `phoneNumbers` replaces all ' +
      'numbers that users entered, and `remoteId` sets or clears the one remote id of its integration type.',
  })
  @Returns(LeadV0Response)
  patch(
    @CurrentCaller() caller: Caller,
    @UuidParam('leadId') leadId: string,
    @JsonBody({ allOptional: true }) body: LeadPatchV0Input,
  ) {
    return this.repository.patch(caller, leadId, body);
  }

  @Delete(':leadId')
  @ApiOperation({
    operationId: 'deleteLead',
    summary: 'Delete a lead',
    description: 'Removes the lead with its associations, phone numbers, tags, remote ids and activity events.',
  })
  @ReturnsNothing()
  delete(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.repository.delete(caller, leadId);
  }
}
