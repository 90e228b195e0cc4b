import { type Context, datasetOf, feedResource, json, Text, Uuid, uuidKey } from 'lanyard';
import { Hall, HallsModule } from './halls.module';

class HallRecord {
  @Uuid({ description: 'The id of the hall.' }) id: string;
  @Text({ description: 'Name of the hall.', example: 'North' }) name: string;
}

export const HALLS: Context = {
  module: HallsModule,
  sections: { halls: datasetOf(HallRecord, Hall, { key: 'id', noun: 'hall', notExported: ['createdAt'] }) },
  feedResources: [
    feedResource(Hall, {
      name: 'halls',
      number: 1000,
      model: HallRecord,
      recordSql: json<HallRecord>({ id: 'id', name: 'name' }),
      key: uuidKey('0197f5a0-0000-7000-8000-000000000001'),
    }),
  ],
};
