import { Controller, Get, Query } from '@nestjs/common';
import { ApiGoneResponse, ApiOperation } from '@nestjs/swagger';
import { Returns } from '../api/returns';
import { Tag } from '../api/tag';
import { Caller, CurrentCaller } from '../api/caller';
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
      'Begins with a snapshot of all records and continues with what changed since. Request the next page with the `cursor` ' +
      'of the last one: at once while `hasMore` is true, later otherwise. Every committed change is emitted at least once; ' +
      'applying the pages in order gives you what the lists return.',
  })
  @Returns(ChangesV0Response, 'A page of changes, and the cursor of the next one.')
  @ApiGoneResponse()
  listChanges(@CurrentCaller() caller: Caller, @Query() query: ChangesQuery) {
    return this.changes.pageJson(caller, query);
  }
}
