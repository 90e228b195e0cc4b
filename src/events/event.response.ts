import { ApiSchema } from '@nestjs/swagger';
import { dateTime, values } from '../database/json';
import { DateTime, Day, Email, Flag, ObjectOf, OneOf, Text, UNCOUNTED, Uuid, UuidList, WholeId } from '../http/fields';
import { Location } from '../http/location.response';
import { EXAMPLE_IDS } from '../http/schemas';

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

/** The fields that bodies and answers have in common, as the API reference shows them. */
export const SHOWN = {
  name: { description: 'What the event is called.', example: 'Harbour Expo' },
  type: { description: 'What kind of event it is.', example: 'TRADE_SHOW' },
  startDate: { description: 'The first day.', example: '2026-05-04' },
  endDate: { description: 'The last day.', example: '2026-05-06' },
  registrationEnabled: { description: 'Whether people may register; by default they may not.', example: true },
  leadId: { description: 'The id of the lead.', example: EXAMPLE_IDS.lead },
  registered: { description: 'Whether the lead is registered; by default it is not.', example: true },
  checkedIn: { description: 'Whether the lead has come; by default it has not.', example: true },
};

@ApiSchema({ description: 'An event of the organization.' })
export class Event {
  @WholeId({ description: 'The id of the event.' }) id: number;
  @Text(SHOWN.name) name: string;
  @OneOf(EventType, 'EventType', SHOWN.type) type: EventType;
  @Flag(SHOWN.registrationEnabled) registrationEnabled: boolean;
  @DateTime({ description: 'When the event was created.' }) createdAt: string;
  @Day({ nullable: true, ...SHOWN.startDate }) startDate: string | null;
  @Day({ nullable: true, ...SHOWN.endDate }) endDate: string | null;
  @ObjectOf(() => Location, { nullable: true, description: 'Where it takes place.' }) location: Location | null;
  @UuidList({
    max: UNCOUNTED,
    description: 'The ids of the tag groups that are linked to the event.',
    example: [EXAMPLE_IDS.tagGroup],
  })
  tagGroups: string[];
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

@ApiSchema({ description: 'The association of a lead with an event.' })
export class EventLeadV0Response {
  @Uuid(SHOWN.leadId) leadId: string;
  @Flag(SHOWN.registered) registered: boolean;
  @Flag(SHOWN.checkedIn) checkedIn: boolean;
}

export const EVENT_LEAD = `select lead_id as "leadId", registered, checked_in as "checkedIn" from page`;

@ApiSchema({ description: 'A user who is assigned to an event.' })
export class UserV0Response {
  @WholeId({ description: 'The id of the user.', example: EXAMPLE_IDS.user }) id: number;
  @Email({ nullable: true, description: 'The e-mail address.', example: 'mara.lindt@example.com' })
  email: string | null;
  @Text({ nullable: true, description: 'The given name.', example: 'Mara' }) firstName: string | null;
  @Text({ nullable: true, description: 'The family name.', example: 'Lindt' }) lastName: string | null;
}

export const USER = `select id, email, first_name as "firstName", last_name as "lastName" from page`;
