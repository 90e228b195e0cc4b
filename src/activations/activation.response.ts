import { ApiSchema } from '@nestjs/swagger';
import {
  DateTime,
  Day,
  Email,
  EmailList,
  MAX_ENTRIES,
  nullable,
  ObjectOf,
  OneOf,
  Text,
  TimeOfDay,
  Uuid,
  Int32,
  Int64Id,
} from '../api-schema/fields';
import { Location } from '../api-schema/location.response';
import { EXAMPLE_IDS } from '../api-schema/schemas';

export const ActivationType = [
  'CONFERENCE',
  'TRADE_SHOW',
  'EVENT',
  'SIDECAR',
  'DINNER_MEAL',
  'HAPPY_HOUR',
  'BREAKFAST',
  'LUNCH',
  'COFFEE_CHAT',
  'RECEPTION',
  'SPEAKING_SESSION',
  'PANEL_DISCUSSION',
  'WORKSHOP',
  'DEMO',
  'SPORTS_GAME',
  'PARTY',
  'BOOTH',
  'GIVEAWAY',
  'NETWORKING_MIXER',
  'ONSITE_OFFICE_VISIT',
  'OTHER',
] as const;
export type ActivationType = (typeof ActivationType)[number];

@ApiSchema({ description: 'A part of an event with a time and a place of its own: a breakfast, a booth, a panel.' })
export class ActivationV0Response {
  @Uuid({ description: 'The id of the activation.', example: EXAMPLE_IDS.activation }) id: string;
  @Int64Id({ description: 'The id of the event that it is a part of.' }) eventId: number;
  @Text({ description: 'What the activation is called.', example: 'Booth 12' }) name: string;
  @DateTime({ description: 'When the activation was created.' }) createdAt: string;
  @OneOf(ActivationType, 'ActivationType', { description: 'What kind of activation it is.', example: 'BOOTH' })
  type: ActivationType;
  @Day({ description: 'The first day.' }) startDate: string;
  @Day({ description: 'The last day.', example: '2026-05-06' }) endDate: string;
  @TimeOfDay({ description: 'When it begins, in the time of its place.' }) startTime: string;
  @TimeOfDay({ description: 'When it ends, in the time of its place.', example: '18:00:00' }) endTime: string;
  @Email({ ...nullable, description: 'Who created it.', example: 'mara.lindt@example.com' })
  createdBy: string | null;
  @ObjectOf(() => Location, { ...nullable, description: 'Where it takes place.' }) location: Location | null;
  @EmailList({
    max: MAX_ENTRIES,
    description: 'The e-mail addresses of its users.',
    example: ['mara.lindt@example.com'],
  })
  users: string[];
  @Int32({ description: 'How many scans were made at it.', example: 7 }) numberOfScans: number;
}

/** The JSON text of a row of activations. */
export const ACTIVATION = `(select row_to_json(o)::text from (
  select id, event_id as "eventId", name, iso_utc(created_at) as "createdAt", type, start_date as "startDate",
    end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location, users,
    number_of_scans as "numberOfScans") o)`;
