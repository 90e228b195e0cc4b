import { DateTime, Email, MAX_LENGTH, OneOf, optional, optionalNullable, Text, Uuid } from '../api-schema/fields';
import type { Dataset } from '../dataset/dataset';
import { LeadActivityEventType } from './lead-activity-event.response';

export class LeadActivityEventRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType') eventType: LeadActivityEventType;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) eventNotes?: string | null;
  @Uuid() associatedLead: string;
  @Uuid(optionalNullable) associatedCampaign?: string | null;
  /** the event's ref */
  @Text(optionalNullable) associatedEvent?: string | null;
  @Uuid(optionalNullable) associatedActivation?: string | null;
  @Uuid(optionalNullable) associatedTagOption?: string | null;
}

export const LEAD_ACTIVITY_EVENTS: Dataset = {
  record: LeadActivityEventRecord,
  entity: 'LeadActivityEventEntity',
  key: 'id',
  shownBy: 'leads',
  // `leadId` is `associatedLead`
  path: (property) =>
    property.replace(/^(.)(\w+)Id$/, (_, first: string, rest: string) => `associated${first.toUpperCase()}${rest}`),
};
