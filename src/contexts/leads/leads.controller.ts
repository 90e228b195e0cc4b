import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { PageQuery } from '../../fields/page-query';
import { UuidParam } from '../../fields/parameters';
import { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from '../../http/pipeline/returns';
import { OpenToCreator, Scopes } from '../../http/pipeline/scopes';
import { Tag } from '../../http/pipeline/tag';
import { EXAMPLE_LEAD_ID } from '../../openapi/example-ids';
import { LeadBatchV0Input, LeadCreateV0Input, LeadPatchV0Input, LeadsQuery, MAX_BATCHED_LEADS } from './lead.dto';
import { LeadEventV0Response, LeadUpsertV0Response, LeadV0Response } from './lead.response';
import { LeadsService } from './leads.service';

const OF_CREATOR =
  'A key of scope `capture` may do so with a lead that it has created itself in the last 24 hours, as long as nothing ' +
  'else has changed that lead.';

@Tag('Leads', 'People the organization met, their contact data and notes.')
@Controller('leads')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Get()
  @ApiOperation({
    summary: 'List leads',
    description:
      'The leads of the organization with all their data, optionally filtered. Every given filter must hold. Paginated, ' +
      'oldest first; the total is that of the filtered list.',
  })
  @ReturnsPage('leads', LeadV0Response)
  @ApiNotFoundResponse()
  listLeads(@CurrentCaller() caller: Caller, @Query() query: LeadsQuery) {
    return this.leads.list(caller, query);
  }

  @Get(':leadId')
  @ApiOperation({
    summary: 'Get a lead',
    description:
      'A lead with its phone numbers, company, tags, activations, activity events and remote IDs. ' + OF_CREATOR,
  })
  @Returns(LeadV0Response, 'The lead.')
  @OpenToCreator('leads', 'leadId')
  getLead(@CurrentCaller() caller: Caller, @UuidParam('leadId', EXAMPLE_LEAD_ID) leadId: string) {
    return this.leads.get(caller, leadId);
  }

  @Get(':leadId/events')
  @ApiOperation({
    summary: 'List the events of a lead',
    description: 'The events that a lead is associated with and its flags there. Paginated, in order of association.',
  })
  @ReturnsPage('events', LeadEventV0Response, 'leadEvents')
  listLeadEvents(
    @CurrentCaller() caller: Caller,
    @UuidParam('leadId', EXAMPLE_LEAD_ID) leadId: string,
    @Query() page: PageQuery,
  ) {
    return this.leads.listEvents(caller, leadId, page);
  }

  @Post()
  @ApiOperation({
    summary: 'Create a lead',
    description:
      'Creates a lead that is not enriched and has no scans. `companyName` becomes the name of its company; phone ' +
      'numbers count as provided by the lead. Send an `Idempotency-Key`: without one, a repeated request creates a ' +
      'second lead.',
  })
  @Returns(LeadV0Response, 'The new lead, with its ID.')
  @Scopes('capture')
  createLead(@CurrentCaller() caller: Caller, @Body() body: LeadCreateV0Input) {
    return this.leads.create(caller, body);
  }

  @Post('batch')
  @ApiOperation({
    summary: 'Create or update many leads',
    description:
      'Writes all entries, or none. An entry updates the first lead in list order with its `email` (ignoring letter case) ' +
      'or `remoteId`, as `matchBy` selects, and creates a lead if there is none. Concurrent batches never create two ' +
      'leads with the same value. Fields required for creation are checked last. Results are in the order of the ' +
      'entries.',
  })
  @ReturnsList(
    'leads',
    LeadUpsertV0Response,
    'The outcome of each entry, in the order of the entries.',
    MAX_BATCHED_LEADS,
  )
  upsertLeads(@CurrentCaller() caller: Caller, @Body() body: LeadBatchV0Input) {
    return this.leads.upsert(caller, body);
  }

  @Patch(':leadId')
  @ApiOperation({
    summary: 'Update a lead',
    description:
      'Updates the given fields. Null clears a field; omitted fields keep their values. `phoneNumbers` replaces all ' +
      'numbers entered by users; `remoteId` sets or clears the remote ID of its integration type. ' +
      OF_CREATOR,
  })
  @Returns(LeadV0Response, 'The lead as it is now.')
  @OpenToCreator('leads', 'leadId')
  patchLead(
    @CurrentCaller() caller: Caller,
    @UuidParam('leadId', EXAMPLE_LEAD_ID) leadId: string,
    @Body() body: LeadPatchV0Input,
  ) {
    return this.leads.patch(caller, leadId, body);
  }

  @Delete(':leadId')
  @ApiOperation({
    summary: 'Delete a lead',
    description: 'Deletes a lead with its associations, phone numbers, tags, remote IDs and activity events.',
  })
  @ReturnsNothing('The lead is deleted.')
  deleteLead(@CurrentCaller() caller: Caller, @UuidParam('leadId', EXAMPLE_LEAD_ID) leadId: string) {
    return this.leads.delete(caller, leadId);
  }
}
