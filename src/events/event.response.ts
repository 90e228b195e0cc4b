import { dateTime, values } from '../database/json';
import { DateTime, Day, Email, Flag, ObjectOf, OneOf, Text, Uuid, UuidList, WholeId } from '../http/fields';
import { Location } from '../http/location.response';

export const EventType = {
  CONFERENCE: 'CONFERENCE',
  TRADE_SHOW: 'TRADE_SHOW',
  EVENT: 'EVENT',
  SIDECAR: 'SIDECAR',
  DINNER_MEAL: 'DINNER_MEAL',
  HAPPY_HOUR: 'HAPPY_HOUR',
  OTHER: 'OTHER',
} as const;
export type EventType = keyof typeof EventType;

/** An event of the organization. */
export class Event {
  @WholeId() id: number;
  @Text() name: string;
  @OneOf(EventType, 'EventType') type: EventType;
  @Flag() registrationEnabled: boolean;
  @DateTime() createdAt: string;
  @Day({ nullable: true }) startDate: string | null;
  @Day({ nullable: true }) endDate: string | null;
  @ObjectOf(() => Location, { nullable: true }) location: Location | null;
  @UuidList({ description: 'Ids of the tag groups linked to the event.' }) tagGroups: string[];
}

export const EVENT = `
  select id, name, type, registration_enabled as "registrationEnabled", ${dateTime('created_at')} as "createdAt",
    start_date as "startDate", end_date as "endDate", location,
    ${values(
      't.tag_group_id',
      'event_tag_groups t where t.organization_id = page.organization_id and t.event_id = page.id',
      't.position',
    )} as "tagGroups"
  from page`;

/** A lead's association with an event. */
export class EventLeadV0Response {
  @Uuid() leadId: string;
  @Flag() registered: boolean;
  @Flag() checkedIn: boolean;
}

export const EVENT_LEAD = `select lead_id as "leadId", registered, checked_in as "checkedIn" from page`;

/** A user assigned to an event. */
export class UserV0Response {
  @WholeId() id: number;
  @Email({ nullable: true }) email: string | null;
  @Text({ nullable: true }) firstName: string | null;
  @Text({ nullable: true }) lastName: string | null;
}

export const USER = `select id, email, first_name as "firstName", last_name as "lastName" from page`;
