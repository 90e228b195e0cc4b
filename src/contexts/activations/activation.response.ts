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
  NumericId,
} from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { Location } from '../events/location.response';
import { json } from '../../data/database/rendering';
import { EXAMPLE_ACTIVATION_ID } from '../../openapi/example-ids';

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

@ApiSchema({ description: 'A part of an event with its own time and place: a breakfast, a booth, a panel.' })
export class ActivationV0Response {
  @Uuid({ description: 'The ID of the activation.', example: EXAMPLE_ACTIVATION_ID }) id: string;
  @NumericId({ description: 'ID of the event it belongs to.' }) eventId: number;
  @Text({ description: 'Name of the activation.', example: 'Booth 12' }) name: string;
  @DateTime({ description: 'Creation date and time.' }) createdAt: string;
  @OneOf(ActivationType, 'ActivationType', { description: 'Type of activation.', example: 'BOOTH' })
  type: ActivationType;
  @Day({ description: 'First day.' }) startDate: string;
  @Day({ description: 'Last day.', example: '2026-05-06' }) endDate: string;
  @TimeOfDay({ description: 'Start time, in local time.' }) startTime: string;
  @TimeOfDay({ description: 'End time, in local time.', example: '18:00:00' }) endTime: string;
  @Email({ ...nullable, description: 'E-mail address of the creator.', example: 'mara.lindt@example.com' })
  createdBy: string | null;
  @ObjectOf(() => Location, { ...nullable, description: 'Location.' }) location: Location | null;
  @EmailList({
    max: MAX_ENTRIES,
    description: 'E-mail addresses of its users.',
    example: ['mara.lindt@example.com'],
  })
  users: string[];
  @Int32({ description: 'Number of scans made at it.', example: 7 }) numberOfScans: number;
}

/** The JSON text of a row of activations. */
export const ACTIVATION_JSON = json<ActivationV0Response>({
  ...ownColumns(ActivationV0Response),
  createdAt: 'iso_utc(created_at)',
});
