import { Controller, Get, Query } from '@nestjs/common';
import { ApiGoneResponse, ApiOperation } from '@nestjs/swagger';
import { Returns } from '../api/returns';
import { Tag } from '../api/tag';
import { Caller, CurrentCaller } from '../api/caller';
import { ChangesQuery } from './change.dto';
import { ChangesV0Response } from './change.response';
import { ChangesService } from './changes.service';

@Tag('Changes', 'What changed since a client last looked, deletes included.')
@Controller('changes')
export class ChangesController {
  constructor(private readonly changes: ChangesService) {}

  @Get()
  @ApiOperation({
    summary: 'Follow changes',
    description:
      'Begins with all records, and goes on with what changed since. Ask again with the `cursor` of each page: at once ' +
      'while `hasMore` is true, then in a while. Every committed change is told at least once; applying each page in order ' +
      'gives what the lists show.',
  })
  @Returns(ChangesV0Response, 'A page of changes, and where the next one begins.')
  @ApiGoneResponse()
  listChanges(@CurrentCaller() caller: Caller, @Query() query: ChangesQuery) {
    return this.changes.text(caller, query);
  }
}
