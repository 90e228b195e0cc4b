import { OmitType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTime,
  Email,
  Int32,
  ListOf,
  MAX_ENTRIES,
  MAX_LENGTH,
  ObjectOf,
  optional,
  optionalNullable,
  PreciseDateTime,
  Text,
  Uuid,
} from '../api/fields';
import { datasetOf } from '../datasets/dataset';
import { EventLeadEntity } from '../events/event.entity';
import { LEAD_CSV } from './lead.csv';
import { LeadPatchV0Input } from './lead.dto';
import { LeadActivationEntity, LeadEntity, LeadTagEntity } from './lead.entity';
import { LeadCompany, LeadPhoneNumbers, MAX_REMOTE_IDS, RemoteId } from './lead.response';

class TagRecord {
  @Uuid() tagOptionId: string;
}

class LeadActivationRecord {
  @Uuid() activationId: string;
  @BooleanField(optional) registered: boolean = false;
  @BooleanField(optional) checkedIn: boolean = false;
}

class LeadEventRecord {
  /** the event's ref */
  @Text() event: string;
  @BooleanField(optional) registered: boolean = false;
  @BooleanField(optional) checkedIn: boolean = false;
  /** the association's place in the event's list */
  @PreciseDateTime(optional) associatedAt?: string;
}

/** What clients may patch, and what only the operator writes. */
export class LeadRecord extends OmitType(LeadPatchV0Input, ['phoneNumbers', 'remoteId']) {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
  @BooleanField(optional) isEnriched: boolean = false;
  @Int32(optional) numberOfScans: number = 0;
  @Email(optionalNullable) lastScannedBy?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) personalEmails?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) professionalEmails?: string | null;
  @ObjectOf(() => LeadCompany, optionalNullable) company?: LeadCompany | null;
  @ObjectOf(() => LeadPhoneNumbers, optionalNullable) phoneNumbers?: LeadPhoneNumbers | null;
  @ListOf(() => TagRecord, { ...optional, max: MAX_ENTRIES, distinct: 'tagOptionId' }) tags: TagRecord[] = [];
  @ListOf(() => LeadActivationRecord, { ...optional, max: MAX_ENTRIES, distinct: 'activationId' })
  activations: LeadActivationRecord[] = [];
  @ListOf(() => LeadEventRecord, { ...optional, max: MAX_ENTRIES, distinct: 'event' }) events: LeadEventRecord[] = [];
  @ListOf(() => RemoteId, { ...optional, max: MAX_REMOTE_IDS, distinct: 'integrationType' }) remoteIds: RemoteId[] = [];
}

export const LEADS = datasetOf(LeadRecord, LeadEntity, {
  key: 'id',
  places: {
    companyName: 'company.name',
    companyIndustry: 'company.industry',
    companyLinkedin: 'company.linkedin',
    companyStreetAddress: 'company.streetAddress',
    companyCity: 'company.city',
    companyState: 'company.state',
    companyZip: 'company.zip',
    companyCountry: 'company.country',
    leadProvidedPhoneNumbers: 'phoneNumbers.leadProvided',
    serviceProvidedPhoneNumbers: 'phoneNumbers.serviceProvided',
  },
  lists: [
    { name: 'tags', entity: LeadTagEntity, key: 'tagOptionId', shownBy: 'leads' },
    { name: 'activations', entity: LeadActivationEntity, key: 'activationId', shownBy: 'leads' },
    {
      name: 'events',
      entity: EventLeadEntity,
      key: 'eventId',
      places: { eventId: 'event' },
      isAdditive: true,
      orderedBy: 'associatedAt',
      order: 'c.associated_at, c.event_id',
    },
  ],
  shown: { fields: ['leadActivityEvents', 'tags.value'], json: 't.document::jsonb' },
  state: `t.document || coalesce((select json_agg(row(e.event_id, e.registered, e.checked_in) order by e.event_id)::text
    from event_leads e where e.organization_id = t.organization_id and e.lead_id = t.id), '')`,
  csv: LEAD_CSV,
});
