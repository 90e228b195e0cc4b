import { DateTime, Email, MAX_LENGTH, OneOf, optional, optionalNullable, Text, Uuid } from '../../fields/fields';
import { datasetOf } from '../../exchange/datasets/dataset';
import { LeadActivityEventEntity } from './lead-activity-event.entity';
import { LeadActivityEventType } from './lead-activity-event.response';

export class LeadActivityEventRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType') eventType: LeadActivityEventType;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) eventNotes?: string | null;
  @Uuid() associatedLead: string;
  @Uuid(optionalNullable) associatedCampaign?: string | null;
  /** The ref of the event. */
  @Text(optionalNullable) associatedEvent?: string | null;
  @Uuid(optionalNullable) associatedActivation?: string | null;
  @Uuid(optionalNullable) associatedTagOption?: string | null;
}

export const LEAD_ACTIVITY_EVENTS = datasetOf(LeadActivityEventRecord, LeadActivityEventEntity, {
  noun: 'lead activity event',
  key: 'id',
  renderedBy: 'leads',
  paths: {
    leadId: 'associatedLead',
    campaignId: 'associatedCampaign',
    eventId: 'associatedEvent',
    activationId: 'associatedActivation',
    tagOptionId: 'associatedTagOption',
  },
});
