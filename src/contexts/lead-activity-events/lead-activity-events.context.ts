import { feedResource, uuidKey } from '../../feed/changes/feed-resource';
import { EXAMPLE_LEAD_ACTIVITY_EVENT_ID } from '../../openapi/example-ids';
import { LEAD_ACTIVITY_EVENTS } from './lead-activity-event.dataset';
import { LeadActivityEventEntity } from './lead-activity-event.entity';
import { LEAD_ACTIVITY_EVENT_JSON, LeadActivityEventV0Response } from './lead-activity-event.response';
import { LeadActivityEventsModule } from './lead-activity-events.module';

export const LEAD_ACTIVITY_EVENTS_CONTEXT = {
  module: LeadActivityEventsModule,
  sections: { leadActivityEvents: LEAD_ACTIVITY_EVENTS },
  feedResources: [
    feedResource(LeadActivityEventEntity, {
      name: 'leadActivityEvents',
      number: 6,
      model: LeadActivityEventV0Response,
      recordSql: LEAD_ACTIVITY_EVENT_JSON,
      key: uuidKey(EXAMPLE_LEAD_ACTIVITY_EVENT_ID),
    }),
  ],
};
