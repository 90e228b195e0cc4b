import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, PageQuery, UuidParam } from '../api-schema/parameters';
import { Returns, ReturnsNothing, ReturnsPage } from '../api-schema/returns';
import { Tag } from '../api-schema/tag';
import { LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LeadV0Response } from './lead.response';
import { LeadsRepository } from './leads.repository';

@Tag('Leads', 'People whom the organization met: who they are, how to reach them, and what was noted.')
@Controller('leads')
export class LeadsController {
  constructor(private readonly leads: LeadsRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'listLeads',
    summary: 'List leads',
    description:
      "The organization's leads with all that belongs to them, page by page, in the order in which they were created.",
  })
  @ReturnsPage('leads', LeadV0Response)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.leads.list(caller, page);
  }

  @Get(':leadId')
  @ApiOperation({
    operationId: 'getLead',
    summary: 'Get a lead',
    description: 'One lead with its phone numbers, company, tags, activations, activity events and remote ids.',
  })
  @Returns(LeadV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.leads.get(caller, leadId);
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
    return this.leads.create(caller, body);
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
    return this.leads.patch(caller, leadId, body);
  }

  @Delete(':leadId')
  @ApiOperation({
    operationId: 'deleteLead',
    summary: 'Delete a lead',
    description: 'Removes the lead with its associations, phone numbers, tags, remote ids and activity events.',
  })
  @ReturnsNothing()
  delete(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.leads.delete(caller, leadId);
  }
}
