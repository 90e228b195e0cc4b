import { defineExtension } from 'lanyard';
import { HALLS } from './halls.context';
import { MEETINGS } from './meetings.context';
import { Halls1790000000000 } from './migrations/1790000000000-halls';
import { Meetings1790000000001 } from './migrations/1790000000001-meetings';

export const extension = defineExtension({
  contexts: [HALLS, MEETINGS],
  migrations: [Halls1790000000000, Meetings1790000000001],
});
