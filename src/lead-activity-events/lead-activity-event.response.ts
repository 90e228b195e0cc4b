import { ApiSchema } from '@nestjs/swagger';
import { DateTime, Email, MAX_LENGTH, nullable, OneOf, Text, Uuid, Int64Id } from '../api-schema/fields';
import { EXAMPLE_IDS } from '../api-schema/schemas';

export const LeadActivityEventType = [
  'NOTE',
  'FACEBOOK',
  'LINKEDIN',
  'TWITTER',
  'CALENDAR',
  'PHONE',
  'EMAIL',
  'SMS',
  'CAMPAIGN_ASSOCIATION',
  'CSV_UPLOAD',
  'SERVICE_API',
  'EMAIL_CONTENT',
  'SMS_CONTENT',
  'OTHER_CONTENT',
] as const;
export type LeadActivityEventType = (typeof LeadActivityEventType)[number];

@ApiSchema({ description: 'A record of what was done with a lead.' })
export class LeadActivityEventV0Response {
  @Uuid({ description: 'The id of the activity event.', example: EXAMPLE_IDS.leadActivityEvent }) id: string;
  @DateTime({ description: 'When it was recorded.' }) createdAt: string;
  @Email({ ...nullable, description: 'Who did it.', example: 'mara.lindt@example.com' }) createdBy: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType', { description: 'What was done with a lead.' })
  eventType: LeadActivityEventType;
  @Text({ ...nullable, max: MAX_LENGTH.prose, description: 'What was noted.', example: 'Call back in June.' })
  eventNotes: string | null;
  @Uuid({ description: 'The id of the lead.' }) associatedLead: string;
  @Uuid({ ...nullable, description: 'The id of the campaign that it belongs to.', example: EXAMPLE_IDS.campaign })
  associatedCampaign: string | null;
  @Int64Id({ ...nullable, description: 'The id of the event that it belongs to; null after the event is deleted.' })
  associatedEvent: number | null;
  @Uuid({ ...nullable, description: 'The id of the activation that it belongs to.', example: EXAMPLE_IDS.activation })
  associatedActivation: string | null;
  @Uuid({ ...nullable, description: 'The id of the tag option that it belongs to.', example: EXAMPLE_IDS.tagOption })
  associatedTagOption: string | null;
}

/** The JSON text of a row of lead_activity_events. */
export const LEAD_ACTIVITY_EVENT = `(select row_to_json(o)::text from (
  select id, iso_utc(created_at) as "createdAt", created_by as "createdBy", event_type as "eventType",
    event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
    event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption") o)`;
