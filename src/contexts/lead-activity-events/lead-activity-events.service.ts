import { Injectable } from '@nestjs/common';
import { arrivalList, filteredList } from '../../data/database/paginate';
import { type JsonText, type Page, Statements } from '../../data/database/statements';
import type { Caller } from '../../http/pipeline/caller';
import type { LeadActivityEventsQuery } from './lead-activity-event.dto';
import { LeadActivityEventEntity } from './lead-activity-event.entity';
import { LEAD_ACTIVITY_EVENT_JSON } from './lead-activity-event.response';

const LIST = { entity: LeadActivityEventEntity, rowJson: LEAD_ACTIVITY_EVENT_JSON };

export const LIST_LEAD_ACTIVITY_EVENTS = arrivalList(LIST);

export const LEAD_ACTIVITY_EVENTS_BY_LEAD = filteredList({
  ...LIST,
  name: 'leadActivityEvents.byLead',
  valueCount: 1,
  where: 'organization_id = $1 and lead_id = $2',
});

export const LEAD_ACTIVITY_EVENTS_BY_TYPE = filteredList({
  ...LIST,
  name: 'leadActivityEvents.byType',
  valueCount: 1,
  where: 'organization_id = $1 and event_type = $2',
});

export const LEAD_ACTIVITY_EVENTS_BY_LEAD_AND_TYPE = filteredList({
  ...LIST,
  name: 'leadActivityEvents.byLeadAndType',
  valueCount: 2,
  where: 'organization_id = $1 and lead_id = $2 and event_type = $3',
});

export const GET_LEAD_ACTIVITY_EVENT = {
  name: 'leadActivityEvent.get',
  text: `select ${LEAD_ACTIVITY_EVENT_JSON} from lead_activity_events where organization_id = $1 and id = $2`,
};

@Injectable()
export class LeadActivityEventsService {
  constructor(private readonly statements: Statements) {}

  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page> {
    if (leadId && eventType)
      return this.statements.paginate(caller, LEAD_ACTIVITY_EVENTS_BY_LEAD_AND_TYPE, [leadId, eventType], page);
    if (leadId) return this.statements.paginate(caller, LEAD_ACTIVITY_EVENTS_BY_LEAD, [leadId], page);
    if (eventType) return this.statements.paginate(caller, LEAD_ACTIVITY_EVENTS_BY_TYPE, [eventType], page);
    return this.statements.paginate(caller, LIST_LEAD_ACTIVITY_EVENTS, [], page);
  }

  /** @throws RowNotFound */
  get(caller: Caller, leadActivityEventId: string): Promise<JsonText> {
    return this.statements.selectOne(caller, GET_LEAD_ACTIVITY_EVENT, [leadActivityEventId]);
  }
}
