import { NumericId, Uuid } from '../../fields/fields';
import { feedResource } from '../../feed/changes/feed-resource';
import { EVENTS, USERS } from './event.dataset';
import { EventEntity, EventLeadEntity } from './event.entity';
import { Event, EVENT_JSON, EVENT_LEAD_JSON, EventLeadV0Response } from './event.response';
import { EventsModule } from './events.module';

const eventId = NumericId({ description: 'The ID of the event.' });
const leadId = Uuid({ description: 'The ID of the lead.' });

export const EVENTS_CONTEXT = {
  module: EventsModule,
  sections: { users: USERS, events: EVENTS },
  feedResources: [
    feedResource(EventEntity, {
      name: 'events',
      number: 2,
      model: Event,
      recordSql: EVENT_JSON,
      key: { integer: { name: 'id', column: 'id', decorator: eventId } },
      childTable: { name: 'event_tag_groups', parentColumn: 'event_id' },
    }),
    feedResource(EventLeadEntity, {
      name: 'eventLeads',
      number: 5,
      model: EventLeadV0Response,
      recordSql: EVENT_LEAD_JSON,
      key: {
        integer: { name: 'eventId', column: 'event_id', decorator: eventId },
        uuid: { name: 'leadId', column: 'lead_id', decorator: leadId },
      },
      changeDetector: (row) => `(${row}.registered, ${row}.checked_in)`,
    }),
  ],
};
