import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { LISTS } from '../database/lists';
import { counted, tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LEAD_ACTIVITY_EVENT } from './lead-activity-event.response';

const ALL = tracked(LISTS.leadActivityEvents, LEAD_ACTIVITY_EVENT);

/** Of these lists no counts are kept: one lead's are few, and the count of a million of one type takes 0.1 s. */
const filtered = (name: string, condition: string) => {
  const matches = `from lead_activity_events where organization_id = $1 and ${condition}`;
  return counted({
    name: `leadActivityEvents.${name}`,
    rows: `select * ${matches} order by position`,
    total: `select count(*) ${matches}`,
    render: LEAD_ACTIVITY_EVENT,
  });
};
const BY_LEAD = filtered('lead', 'lead_id = $2');
const BY_TYPE = filtered('type', 'event_type = $2');
const BY_LEAD_AND_TYPE = filtered('lead.type', 'lead_id = $2 and event_type = $3');

const ONE = {
  name: 'leadActivityEvent',
  text: one('select * from lead_activity_events where organization_id = $1 and id = $2', LEAD_ACTIVITY_EVENT),
};

@Injectable()
export class LeadActivityEventsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType) return this.statements.page(caller, BY_LEAD_AND_TYPE, [leadId, eventType], page);
    if (leadId) return this.statements.page(caller, BY_LEAD, [leadId], page);
    if (eventType) return this.statements.page(caller, BY_TYPE, [eventType], page);
    return this.statements.page(caller, ALL, [], page);
  }

  get(caller: Caller, leadActivityEventId: string): Promise<Json> {
    return this.statements.one(caller, ONE, [leadActivityEventId]);
  }
}
