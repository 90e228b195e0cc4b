import { defineExtension } from 'lanyard';
import { HALLS } from './halls.context';
import { Halls1790000000000 } from './migrations/1790000000000-halls';

export const extension = defineExtension({ contexts: [HALLS], migrations: [Halls1790000000000] });
