import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../http/caller';
import { JsonBody, PageQuery, UuidParam } from '../http/parameters';
import { Returns, ReturnsNothing, ReturnsPage } from '../http/returns';
import { LeadCreateV0Input, LeadPatchV0Input } from './lead.dto';
import { LeadV0Response } from './lead.response';
import { LeadsService } from './leads.service';

@ApiTags('Leads')
@Controller('leads')
export class LeadsController {
  constructor(private readonly leads: LeadsService) {}

  @Get()
  @ApiOperation({ operationId: 'listLeads', summary: "List the organization's leads" })
  @ReturnsPage('leads', LeadV0Response)
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.leads.list(caller, page);
  }

  @Get(':leadId')
  @ApiOperation({ operationId: 'getLead', summary: 'Get one lead' })
  @Returns(LeadV0Response)
  get(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.leads.get(caller, leadId);
  }

  @Post()
  @ApiOperation({ operationId: 'createLead', summary: 'Create a lead' })
  @Returns(LeadV0Response)
  create(@CurrentCaller() caller: Caller, @JsonBody() body: LeadCreateV0Input) {
    return this.leads.create(caller, body);
  }

  @Patch(':leadId')
  @ApiOperation({ operationId: 'patchLead', summary: 'Change some fields of a lead' })
  @Returns(LeadV0Response)
  patch(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string, @JsonBody() body: LeadPatchV0Input) {
    return this.leads.patch(caller, leadId, body);
  }

  @Delete(':leadId')
  @ApiOperation({ operationId: 'deleteLead', summary: 'Delete a lead with everything that belongs to it' })
  @ReturnsNothing()
  delete(@CurrentCaller() caller: Caller, @UuidParam('leadId') leadId: string) {
    return this.leads.delete(caller, leadId);
  }
}
