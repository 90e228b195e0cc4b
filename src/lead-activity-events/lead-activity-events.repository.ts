import { Injectable } from '@nestjs/common';
import { arrivalList, filteredList } from '../database/paginate';
import { type Json, type Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LEAD_ACTIVITY_EVENT } from './lead-activity-event.response';

const list = { table: 'lead_activity_events', item: LEAD_ACTIVITY_EVENT };
const ALL = arrivalList(list);
const listBy = (name: string, condition: string) =>
  filteredList({ ...list, name: `leadActivityEvents.${name}`, where: `organization_id = $1 and ${condition}` });
const BY_LEAD = listBy('byLead', 'lead_id = $2');
const BY_TYPE = listBy('byType', 'event_type = $2');
const BY_LEAD_AND_TYPE = listBy('byLeadAndType', 'lead_id = $2 and event_type = $3');

const GET = {
  name: 'leadActivityEvent.get',
  text: `select ${LEAD_ACTIVITY_EVENT} from lead_activity_events where organization_id = $1 and id = $2`,
};

@Injectable()
export class LeadActivityEventsRepository {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType) return this.statements.paginate(caller, BY_LEAD_AND_TYPE, [leadId, eventType], page);
    if (leadId) return this.statements.paginate(caller, BY_LEAD, [leadId], page);
    if (eventType) return this.statements.paginate(caller, BY_TYPE, [eventType], page);
    return this.statements.paginate(caller, ALL, [], page);
  }

  get(caller: Caller, leadActivityEventId: string): Promise<Json> {
    return this.statements.one(caller, GET, [leadActivityEventId]);
  }
}
