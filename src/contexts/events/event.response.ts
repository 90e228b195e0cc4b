import { ApiSchema } from '@nestjs/swagger';
import {
  DateTime,
  Day,
  Email,
  BooleanField,
  MAX_ENTRIES,
  nullable,
  ObjectOf,
  OneOf,
  Text,
  Uuid,
  UuidList,
  NumericId,
} from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { EXAMPLE_LEAD_ID, EXAMPLE_TAG_GROUP_ID } from '../../openapi/example-ids';
import { Location } from './location.response';
import { json } from '../../data/database/rendering';

export const EventType = [
  'CONFERENCE',
  'TRADE_SHOW',
  'EVENT',
  'SIDECAR',
  'DINNER_MEAL',
  'HAPPY_HOUR',
  'OTHER',
] as const;
export type EventType = (typeof EventType)[number];

/** Documentation of the fields that request bodies and responses have in common. */
export const EVENT_FIELD_DOCS = {
  name: { description: 'Name of the event.', example: 'Harbour Expo' },
  type: { description: 'Type of event.', example: 'TRADE_SHOW' },
  startDate: { description: 'First day.', example: '2026-05-04' },
  endDate: { description: 'Last day.', example: '2026-05-06' },
  registrationEnabled: { description: 'Whether registration is open. Defaults to false.', example: true },
  leadId: { description: 'The ID of the lead.', example: EXAMPLE_LEAD_ID },
  registered: { description: 'Whether the lead is registered. Defaults to false.', example: true },
  checkedIn: { description: 'Whether the lead has checked in. Defaults to false.', example: true },
};

@ApiSchema({ description: 'An event of the organization.' })
export class Event {
  @NumericId({ description: 'The ID of the event.' }) id: number;
  @Text(EVENT_FIELD_DOCS.name) name: string;
  @OneOf(EventType, 'EventType', EVENT_FIELD_DOCS.type) type: EventType;
  @BooleanField(EVENT_FIELD_DOCS.registrationEnabled) registrationEnabled: boolean;
  @DateTime({ description: 'Creation date and time.' }) createdAt: string;
  @Day({ ...nullable, ...EVENT_FIELD_DOCS.startDate }) startDate: string | null;
  @Day({ ...nullable, ...EVENT_FIELD_DOCS.endDate }) endDate: string | null;
  @ObjectOf(() => Location, { ...nullable, description: 'Location.' }) location: Location | null;
  @UuidList({
    max: MAX_ENTRIES,
    description: 'IDs of the linked tag groups.',
    example: [EXAMPLE_TAG_GROUP_ID],
  })
  tagGroups: string[];
}

/** The JSON text of a row of events. */
export const EVENT_JSON = json<Event>({
  ...ownColumns(Event),
  createdAt: 'iso_utc(created_at)',
  tagGroups: `coalesce((select json_agg(t.tag_group_id order by t.position) from event_tag_groups t
    where t.organization_id = events.organization_id and t.event_id = events.id), '[]')`,
});

@ApiSchema({ description: 'Association of a lead with an event.' })
export class EventLeadV0Response {
  @Uuid(EVENT_FIELD_DOCS.leadId) leadId: string;
  @BooleanField(EVENT_FIELD_DOCS.registered) registered: boolean;
  @BooleanField(EVENT_FIELD_DOCS.checkedIn) checkedIn: boolean;
}

/** The JSON text of a row of event_leads. */
export const EVENT_LEAD_JSON = json<EventLeadV0Response>(ownColumns(EventLeadV0Response));

@ApiSchema({ description: 'A user assigned to an event.' })
export class UserV0Response {
  @NumericId({ description: 'The ID of the user.' }) id: number;
  @Email({ ...nullable, description: 'The e-mail address.', example: 'mara.lindt@example.com' })
  email: string | null;
  @Text({ ...nullable, description: 'Given name.', example: 'Mara' }) firstName: string | null;
  @Text({ ...nullable, description: 'Family name.', example: 'Lindt' }) lastName: string | null;
}

const USER_JSON = json<UserV0Response>(ownColumns(UserV0Response));

/** The JSON text of the user of a row of event_users. */
export const EVENT_USER_JSON = `(select ${USER_JSON} from users where users.organization_id = event_users.organization_id and users.id = event_users.user_id)`;
