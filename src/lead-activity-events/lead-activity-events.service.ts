import { Injectable } from '@nestjs/common';
import { arrivalList, filteredList } from '../database/paginate';
import { type JsonText, type Page, Statements } from '../database/statements';
import type { Caller } from '../api/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LeadActivityEventEntity } from './lead-activity-event.entity';
import { LEAD_ACTIVITY_EVENT } from './lead-activity-event.response';

const shown = { entity: LeadActivityEventEntity, item: LEAD_ACTIVITY_EVENT };

export const LIST_LEAD_ACTIVITY_EVENTS = arrivalList(shown);

export const BY_LEAD = filteredList({
  ...shown,
  name: 'leadActivityEvents.byLead',
  values: 1,
  where: 'organization_id = $1 and lead_id = $2',
});

export const BY_TYPE = filteredList({
  ...shown,
  name: 'leadActivityEvents.byType',
  values: 1,
  where: 'organization_id = $1 and event_type = $2',
});

export const BY_LEAD_AND_TYPE = filteredList({
  ...shown,
  name: 'leadActivityEvents.byLeadAndType',
  values: 2,
  where: 'organization_id = $1 and lead_id = $2 and event_type = $3',
});

export const GET_LEAD_ACTIVITY_EVENT = {
  name: 'leadActivityEvent.get',
  text: `select ${LEAD_ACTIVITY_EVENT} from lead_activity_events where organization_id = $1 and id = $2`,
};

@Injectable()
export class LeadActivityEventsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType) return this.statements.paginate(caller, BY_LEAD_AND_TYPE, [leadId, eventType], page);
    if (leadId) return this.statements.paginate(caller, BY_LEAD, [leadId], page);
    if (eventType) return this.statements.paginate(caller, BY_TYPE, [eventType], page);
    return this.statements.paginate(caller, LIST_LEAD_ACTIVITY_EVENTS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, leadActivityEventId: string): Promise<JsonText> {
    return this.statements.one(caller, GET_LEAD_ACTIVITY_EVENT, [leadActivityEventId]);
  }
}
