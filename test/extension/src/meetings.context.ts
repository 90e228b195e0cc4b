import {
  type Context,
  datasetOf,
  DateTime,
  Decimal,
  feedResource,
  leadReference,
  optional,
  optionalNullable,
  Uuid,
  uuidKey,
  withCsv,
} from 'lanyard';
import { Meeting, MEETING, MeetingResponse, MeetingsModule } from './meetings.module';

class MeetingRecord {
  @Uuid() id: string;
  @Uuid({ description: 'The id of the lead.' }) lead: string;
  @DateTime() startsAt: string;
  @Decimal({ precision: 10, scale: 2, ...optionalNullable }) price?: number | null;
  @DateTime(optional) createdAt?: string;
}

export const MEETINGS: Context = {
  module: MeetingsModule,
  sections: {
    meetings: withCsv(datasetOf(MeetingRecord, Meeting, { key: 'id', noun: 'meeting', paths: { leadId: 'lead' } }), {
      fields: [leadReference('lead')],
    }),
  },
  feedResources: [
    feedResource(Meeting, {
      name: 'meetings',
      number: 1001,
      model: MeetingResponse,
      recordSql: MEETING,
      key: uuidKey('0197f5a0-0000-7000-8000-000000000011'),
    }),
  ],
};
