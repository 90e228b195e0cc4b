import { Injectable } from '@nestjs/common';
import { one } from '../database/json';
import { Json, ListStatement, Page, Reads } from '../database/reads';
import type { Caller } from '../http/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LEAD_ACTIVITY_EVENT } from './lead-activity-event.response';

/** A statement for each combination of filters, so that each can have its own index. */
const listBy = (name: string, condition: string): ListStatement => ({
  name: `leadActivityEvents${name}`,
  rows: `select * from lead_activity_events where organization_id = $1${condition} order by created_at, id`,
  render: LEAD_ACTIVITY_EVENT,
  total: `select count(*) from lead_activity_events where organization_id = $1${condition}`,
});

const ALL = listBy('', '');
const BY_LEAD = listBy('.lead', ' and lead_id = $2');
const BY_TYPE = listBy('.type', ' and event_type = $2');
const BY_LEAD_AND_TYPE = listBy('.lead.type', ' and lead_id = $2 and event_type = $3');

const ONE = one('select * from lead_activity_events where organization_id = $1 and id = $2', LEAD_ACTIVITY_EVENT);

@Injectable()
export class LeadActivityEventsService {
  constructor(private readonly reads: Reads) {}

  list({ organizationId }: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType) return this.reads.page(BY_LEAD_AND_TYPE, [organizationId, leadId, eventType], page);
    if (leadId) return this.reads.page(BY_LEAD, [organizationId, leadId], page);
    if (eventType) return this.reads.page(BY_TYPE, [organizationId, eventType], page);
    return this.reads.page(ALL, [organizationId], page);
  }

  get({ organizationId }: Caller, leadActivityEventId: string): Promise<Json> {
    return this.reads.one('leadActivityEvent', ONE, [organizationId, leadActivityEventId]);
  }
}
