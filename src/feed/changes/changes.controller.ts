import { Controller, Get, Query } from '@nestjs/common';
import { ApiGoneResponse, ApiOperation } from '@nestjs/swagger';
import { Returns } from '../../http/pipeline/returns';
import { Tag } from '../../http/pipeline/tag';
import { Caller, CurrentCaller } from '../../http/pipeline/caller';
import { ChangesQuery } from './change.dto';
import { ChangesV0Response } from './change.response';
import { ChangesService } from './changes.service';

@Tag('Changes', 'Changes since your last request, including deletions.')
@Controller('changes')
export class ChangesController {
  constructor(private readonly changes: ChangesService) {}

  @Get()
  @ApiOperation({
    summary: 'Follow changes',
    description:
      'Starts with a snapshot of the records of the resources below and continues with the changes since. Pass the ' +
      '`cursor` of each page to get the next one: immediately while `hasMore` is true, later otherwise. A page may be ' +
      'empty, even the first one. Every committed change is emitted at least ' +
      'once. If you apply the pages in order, your copy equals what the lists return.',
  })
  @Returns(ChangesV0Response, 'A page of changes, and the cursor of the next one.')
  @ApiGoneResponse()
  listChanges(@CurrentCaller() caller: Caller, @Query() query: ChangesQuery) {
    return this.changes.pageJson(caller, query);
  }
}
