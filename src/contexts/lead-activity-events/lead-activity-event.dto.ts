import { PageQuery } from '../../fields/page-query';
import { QueryOneOf, QueryUuid } from '../../fields/parameters';
import { LeadActivityEventType } from './lead-activity-event.response';

export class LeadActivityEventsQuery extends PageQuery {
  @QueryUuid('Limits the list to activity events of this lead.') leadId?: string;
  @QueryOneOf(LeadActivityEventType, 'LeadActivityEventType', 'Limits the list to activity events of this type.')
  eventType?: LeadActivityEventType;
}
