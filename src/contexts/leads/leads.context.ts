import { ListOf } from '../../fields/fields';
import { feedResource, uuidKey } from '../../feed/changes/feed-resource';
import { EXAMPLE_LEAD_ID } from '../../openapi/example-ids';
import { LEADS } from './lead.dataset';
import { LeadEntity } from './lead.entity';
import { LEAD_JSON, LeadV0Response, MAX_REMOTE_IDS, RemoteId } from './lead.response';
import { LeadsModule } from './leads.module';

export const LEADS_CONTEXT = {
  module: LeadsModule,
  sections: { leads: LEADS },
  feedResources: [
    feedResource(LeadEntity, {
      name: 'leads',
      number: 4,
      model: LeadV0Response,
      recordSql: LEAD_JSON,
      key: uuidKey(EXAMPLE_LEAD_ID),
      changeDetector: (row) => `${row}.document`,
      remoteIds: {
        column: 'remote_ids',
        decorator: ListOf(() => RemoteId, {
          max: MAX_REMOTE_IDS,
          description: 'The remote IDs that the lead has, or had when it was deleted.',
        }),
      },
    }),
  ],
};
