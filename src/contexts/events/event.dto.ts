import { ApiSchema, OmitType } from '@nestjs/swagger';
import { Day, Email, BooleanField, ListOf, OneOf, optional, Text, Uuid } from '../../fields/fields';
import { EventType, EVENT_FIELD_DOCS } from './event.response';

/** Maximum number of entries in a body. */
export const MAX_EVENT_LEADS = 1000;

const END = { notBefore: 'startDate', ...EVENT_FIELD_DOCS.endDate, description: 'Last day, not before `startDate`.' };
const REGISTRATION = { ...optional, ...EVENT_FIELD_DOCS.registrationEnabled };

@ApiSchema({ description: 'A new event.' })
export class EventCreateV0Input {
  @Text(EVENT_FIELD_DOCS.name) eventName: string;
  @OneOf(EventType, 'EventType', EVENT_FIELD_DOCS.type) eventType: EventType;
  @Day(EVENT_FIELD_DOCS.startDate) startDate: string;
  @Day(END) endDate: string;
  @Email({ description: 'E-mail address of the creator. Need not belong to a user.', example: 'ops@example.com' })
  createdByEmail: string;
  @BooleanField(REGISTRATION) registrationEnabled?: boolean;
}

@ApiSchema({ description: 'Replacement values of an event.' })
export class EventUpdateV0Input extends OmitType(EventCreateV0Input, ['createdByEmail']) {}

@ApiSchema({ description: 'A lead to associate, with its flags.' })
export class EventLeadInput {
  @Uuid(EVENT_FIELD_DOCS.leadId) leadId: string;
  @BooleanField({ ...optional, ...EVENT_FIELD_DOCS.registered }) registered?: boolean;
  @BooleanField({ ...optional, ...EVENT_FIELD_DOCS.checkedIn }) checkedIn?: boolean;
}

@ApiSchema({ description: 'Leads to associate with an event.' })
export class EventAddLeadsV0Input {
  @ListOf(() => EventLeadInput, {
    max: MAX_EVENT_LEADS,
    description: 'Leads to associate. An empty array changes nothing.',
  })
  eventLeads: EventLeadInput[];
}
