import { dateTime } from '../database/json';
import {
  DateTime,
  Day,
  Email,
  EmailList,
  ObjectOf,
  OneOf,
  Text,
  TimeOfDay,
  Uuid,
  Whole,
  WholeId,
} from '../http/fields';
import { Location } from '../http/location.response';

export const ActivationType = {
  CONFERENCE: 'CONFERENCE',
  TRADE_SHOW: 'TRADE_SHOW',
  EVENT: 'EVENT',
  SIDECAR: 'SIDECAR',
  DINNER_MEAL: 'DINNER_MEAL',
  HAPPY_HOUR: 'HAPPY_HOUR',
  BREAKFAST: 'BREAKFAST',
  LUNCH: 'LUNCH',
  COFFEE_CHAT: 'COFFEE_CHAT',
  RECEPTION: 'RECEPTION',
  SPEAKING_SESSION: 'SPEAKING_SESSION',
  PANEL_DISCUSSION: 'PANEL_DISCUSSION',
  WORKSHOP: 'WORKSHOP',
  DEMO: 'DEMO',
  SPORTS_GAME: 'SPORTS_GAME',
  PARTY: 'PARTY',
  BOOTH: 'BOOTH',
  GIVEAWAY: 'GIVEAWAY',
  NETWORKING_MIXER: 'NETWORKING_MIXER',
  ONSITE_OFFICE_VISIT: 'ONSITE_OFFICE_VISIT',
  OTHER: 'OTHER',
} as const;
export type ActivationType = keyof typeof ActivationType;

/** A sub-session of an event: a breakfast, a booth, a panel. */
export class ActivationV0Response {
  @Uuid() id: string;
  @WholeId({ description: 'The owning event.' }) eventId: number;
  @Text() name: string;
  @DateTime() createdAt: string;
  @OneOf(ActivationType, 'ActivationType') type: ActivationType;
  @Day() startDate: string;
  @Day() endDate: string;
  @TimeOfDay() startTime: string;
  @TimeOfDay() endTime: string;
  @Email({ nullable: true }) createdBy: string | null;
  @ObjectOf(() => Location, { nullable: true }) location: Location | null;
  @EmailList() users: string[];
  @Whole() numberOfScans: number;
}

export const ACTIVATION = `
  select id, event_id as "eventId", name, ${dateTime('created_at')} as "createdAt", type, start_date as "startDate",
    end_date as "endDate", start_time as "startTime", end_time as "endTime", created_by as "createdBy", location,
    users, number_of_scans as "numberOfScans"
  from page`;
