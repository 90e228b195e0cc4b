import { Day, Email, Flag, ListOf, OneOf, Text, Uuid } from '../http/fields';
import { EventType } from './event.response';

export class EventUpdateV0Input {
  @Text() eventName: string;
  @OneOf(EventType, 'EventType') eventType: EventType;
  @Day() startDate: string;
  @Day({ notBefore: 'startDate' }) endDate: string;
  @Flag({ optional: true, description: 'False when omitted.' }) registrationEnabled?: boolean;
}

export class EventCreateV0Input {
  @Text() eventName: string;
  @OneOf(EventType, 'EventType') eventType: EventType;
  @Day() startDate: string;
  @Day({ notBefore: 'startDate' }) endDate: string;
  @Email({ description: 'Stored as the creator; need not be a known user.' }) createdByEmail: string;
  @Flag({ optional: true, description: 'False when omitted.' }) registrationEnabled?: boolean;
}

export class EventLeadInput {
  @Uuid() leadId: string;
  @Flag({ optional: true, description: 'False when omitted.' }) registered?: boolean;
  @Flag({ optional: true, description: 'False when omitted.' }) checkedIn?: boolean;
}

export class EventAddLeadsV0Input {
  @ListOf(() => EventLeadInput, { max: 1000 }) eventLeads: EventLeadInput[];
}
