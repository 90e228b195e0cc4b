import { PageQuery, QueryOneOf, QueryUuid } from '../api-schema/parameters';
import { LeadActivityEventType } from './lead-activity-event.response';

export class LeadActivityEventsQuery extends PageQuery {
  @QueryUuid('Only the activity events of this lead.') leadId?: string;
  @QueryOneOf(LeadActivityEventType, 'LeadActivityEventType', 'Only the activity events of this type.')
  eventType?: LeadActivityEventType;
}
