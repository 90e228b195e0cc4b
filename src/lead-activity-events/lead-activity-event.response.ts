import { dateTime } from '../database/json';
import { DateTime, Email, LENGTHS, OneOf, Text, Uuid, WholeId } from '../http/fields';

export const LeadActivityEventType = {
  NOTE: 'NOTE',
  FACEBOOK: 'FACEBOOK',
  LINKEDIN: 'LINKEDIN',
  TWITTER: 'TWITTER',
  CALENDAR: 'CALENDAR',
  PHONE: 'PHONE',
  EMAIL: 'EMAIL',
  SMS: 'SMS',
  CAMPAIGN_ASSOCIATION: 'CAMPAIGN_ASSOCIATION',
  CSV_UPLOAD: 'CSV_UPLOAD',
  SERVICE_API: 'SERVICE_API',
  EMAIL_CONTENT: 'EMAIL_CONTENT',
  SMS_CONTENT: 'SMS_CONTENT',
  OTHER_CONTENT: 'OTHER_CONTENT',
} as const;
export type LeadActivityEventType = keyof typeof LeadActivityEventType;

/** A record of an action taken on a lead. */
export class LeadActivityEventV0Response {
  @Uuid() id: string;
  @DateTime() createdAt: string;
  @Email({ nullable: true }) createdBy: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType') eventType: LeadActivityEventType;
  @Text({ nullable: true, max: LENGTHS.prose }) eventNotes: string | null;
  @Uuid() associatedLead: string;
  @Uuid({ nullable: true }) associatedCampaign: string | null;
  @WholeId({ nullable: true }) associatedEvent: number | null;
  @Uuid({ nullable: true }) associatedActivation: string | null;
  @Uuid({ nullable: true }) associatedTagOption: string | null;
}

export const LEAD_ACTIVITY_EVENT = `
  select id, ${dateTime('created_at')} as "createdAt", created_by as "createdBy", event_type as "eventType",
    event_notes as "eventNotes", lead_id as "associatedLead", campaign_id as "associatedCampaign",
    event_id as "associatedEvent", activation_id as "associatedActivation", tag_option_id as "associatedTagOption"
  from page`;
