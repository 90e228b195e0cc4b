import { ApiSchema } from '@nestjs/swagger';
import { Day, Email, Flag, ListOf, OneOf, optional, Text, Uuid } from '../http/fields';
import { EventType, SHOWN } from './event.response';

/** Entries of one body. */
export const MOST_EVENT_LEADS = 1000;

const END = { notBefore: 'startDate', ...SHOWN.endDate, description: 'The last day, not before `startDate`.' };
const REGISTRATION = { ...optional, ...SHOWN.registrationEnabled };

@ApiSchema({ description: 'What an event becomes.' })
export class EventUpdateV0Input {
  @Text(SHOWN.name) eventName: string;
  @OneOf(EventType, 'EventType', SHOWN.type) eventType: EventType;
  @Day(SHOWN.startDate) startDate: string;
  @Day(END) endDate: string;
  @Flag(REGISTRATION) registrationEnabled?: boolean;
}

@ApiSchema({ description: 'A new event.' })
export class EventCreateV0Input {
  @Text(SHOWN.name) eventName: string;
  @OneOf(EventType, 'EventType', SHOWN.type) eventType: EventType;
  @Day(SHOWN.startDate) startDate: string;
  @Day(END) endDate: string;
  @Email({ description: 'Who creates it: any address, also of somebody who is no user.', example: 'ops@example.com' })
  createdByEmail: string;
  @Flag(REGISTRATION) registrationEnabled?: boolean;
}

@ApiSchema({ description: 'A lead that is to belong to an event, and how far it got.' })
export class EventLeadInput {
  @Uuid(SHOWN.leadId) leadId: string;
  @Flag({ ...optional, ...SHOWN.registered }) registered?: boolean;
  @Flag({ ...optional, ...SHOWN.checkedIn }) checkedIn?: boolean;
}

@ApiSchema({ description: 'Leads that are to belong to an event.' })
export class EventAddLeadsV0Input {
  @ListOf(() => EventLeadInput, { max: MOST_EVENT_LEADS, description: 'The leads. Of none, nothing changes.' })
  eventLeads: EventLeadInput[];
}
