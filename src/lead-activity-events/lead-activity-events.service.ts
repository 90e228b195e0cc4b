import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { LISTS } from '../database/lists';
import { filtered, tracked } from '../database/listings';
import { Json, Page, Statements } from '../database/statements';
import type { Caller } from '../http/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LEAD_ACTIVITY_EVENT } from './lead-activity-event.response';

const ALL = tracked(LISTS.leadActivityEvents, LEAD_ACTIVITY_EVENT);

const BY_LEAD = filtered(LISTS.leadActivityEvents, 'lead', 'lead_id = $2', LEAD_ACTIVITY_EVENT);
const BY_TYPE = filtered(LISTS.leadActivityEvents, 'type', 'event_type = $2', LEAD_ACTIVITY_EVENT);
const BY_BOTH = filtered(LISTS.leadActivityEvents, 'both', 'lead_id = $2 and event_type = $3', LEAD_ACTIVITY_EVENT);

const ONE = {
  name: 'leadActivityEvent',
  text: one('select * from lead_activity_events where organization_id = $1 and id = $2', LEAD_ACTIVITY_EVENT),
};

@Injectable()
export class LeadActivityEventsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType) return this.statements.page(caller, BY_BOTH, [leadId, eventType], page);
    if (leadId) return this.statements.page(caller, BY_LEAD, [leadId], page);
    if (eventType) return this.statements.page(caller, BY_TYPE, [eventType], page);
    return this.statements.page(caller, ALL, [], page);
  }

  get(caller: Caller, leadActivityEventId: string): Promise<Json> {
    return this.statements.one(caller, ONE, [leadActivityEventId]);
  }
}
