import { ApiSchema } from '@nestjs/swagger';
import { DateTime, Email, MAX_LENGTH, nullable, OneOf, Text, Uuid, NumericId } from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { json } from '../../data/database/rendering';
import {
  EXAMPLE_ACTIVATION_ID,
  EXAMPLE_LEAD_ACTIVITY_EVENT_ID,
  EXAMPLE_TAG_OPTION_ID,
} from '../../openapi/example-ids';

/** The id of a campaign, of which no record exists. */
export const EXAMPLE_CAMPAIGN_ID = '0b1f5c0e-6f0b-5d0c-9a7e-2f4c8e1d3b60';

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

@ApiSchema({ description: 'An activity event of a lead.' })
export class LeadActivityEventV0Response {
  @Uuid({ description: 'ID of the activity event.', example: EXAMPLE_LEAD_ACTIVITY_EVENT_ID }) id: string;
  @DateTime({ description: 'Date and time of the record.' }) createdAt: string;
  @Email({ ...nullable, description: 'E-mail address of the user who did it.', example: 'mara.lindt@example.com' })
  createdBy: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType', { description: 'Type of activity.' })
  eventType: LeadActivityEventType;
  @Text({ ...nullable, max: MAX_LENGTH.prose, description: 'Text of the note.', example: 'Call back in June.' })
  eventNotes: string | null;
  @Uuid({ description: 'The ID of the lead.' }) associatedLead: string;
  @Uuid({ ...nullable, description: 'ID of the associated campaign.', example: EXAMPLE_CAMPAIGN_ID })
  associatedCampaign: string | null;
  @NumericId({ ...nullable, description: 'ID of the associated event; null once the event is deleted.' })
  associatedEvent: number | null;
  @Uuid({ ...nullable, description: 'ID of the associated activation.', example: EXAMPLE_ACTIVATION_ID })
  associatedActivation: string | null;
  @Uuid({ ...nullable, description: 'ID of the associated tag option.', example: EXAMPLE_TAG_OPTION_ID })
  associatedTagOption: string | null;
}

/** The JSON text of a row of lead_activity_events. */
export const LEAD_ACTIVITY_EVENT_JSON = json<LeadActivityEventV0Response>({
  ...ownColumns(LeadActivityEventV0Response),
  createdAt: 'iso_utc(created_at)',
  associatedLead: 'lead_id',
  associatedCampaign: 'campaign_id',
  associatedEvent: 'event_id',
  associatedActivation: 'activation_id',
  associatedTagOption: 'tag_option_id',
});
