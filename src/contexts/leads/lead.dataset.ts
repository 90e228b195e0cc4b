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
} from '../../fields/fields';
import { withCsv } from '../../exchange/csv/csv-section';
import { datasetOf } from '../../exchange/datasets/dataset';
import { EventLeadEntity } from '../events/event.entity';
import { LEAD_ALIASES } from './lead.aliases';
import { LEAD_CSV } from './lead.csv';
import { LeadPatchV0Input } from './lead.dto';
import { LeadActivationEntity, LeadEntity, LeadTagEntity } from './lead.entity';
import { hasRemoteId } from './lead.match';
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
  /** The ref of the event. */
  @Text() event: string;
  @BooleanField(optional) registered: boolean = false;
  @BooleanField(optional) checkedIn: boolean = false;
  /** Determines the position of the lead among those of the event. */
  @PreciseDateTime(optional) associatedAt?: string;
}

/** The fields that clients may patch, and those that only imports write. */
export class LeadRecord extends OmitType(LeadPatchV0Input, ['phoneNumbers', 'remoteId']) {
  @Uuid() id: string;
  /** The name that another program or a person gave the lead, and which one gave it. Clients see neither. */
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) ref?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.name }) source?: string | null;
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

/** SQL of what GET returns of a lead, and of its associations with events, which GET returns elsewhere. */
const comparableState = (lead: string): string =>
  `${lead}.document || coalesce((
    select json_agg(row(e.event_id, e.registered, e.checked_in) order by e.event_id)::text
    from event_leads e where e.organization_id = ${lead}.organization_id and e.lead_id = ${lead}.id
  ), '')`;

/** SQL of the distinct values of an array, in their order, one per line. */
const distinctLines = (values: string): string => `
  select string_agg(value, E'\\n' order by n) from (
    select value, min(n) as n from unnest(${values}) with ordinality v (value, n) group by value
  ) d`;

/** SQL of the distinct phone numbers of an array of lists. The first one becomes the preferred one. */
const distinctNumbers = (values: string): string => `
  select coalesce(jsonb_agg(phone || jsonb_build_object('preferred', n = 1) order by n), '[]') from (
    select phone, row_number() over (order by n) as n from (
      select distinct on (phone ->> 'type', phone ->> 'number') phone, (nth, entry) as n
      from unnest(${values}) with ordinality l (list, nth), jsonb_array_elements(list) with ordinality e (phone, entry)
      order by phone ->> 'type', phone ->> 'number', nth, entry
    ) numbers
  ) d`;

const dataset = datasetOf(LeadRecord, LeadEntity, {
  noun: 'lead',
  key: 'id',
  paths: {
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
    { name: 'tags', entity: LeadTagEntity, key: 'tagOptionId', renderedBy: 'leads' },
    { name: 'activations', entity: LeadActivationEntity, key: 'activationId', renderedBy: 'leads' },
    {
      name: 'events',
      entity: EventLeadEntity,
      key: 'eventId',
      paths: { eventId: 'event' },
      isAdditive: true,
      orderedBy: 'associatedAt',
      order: (row) => `${row}.associated_at, ${row}.event_id`,
    },
  ],
  readOnlyFields: { paths: ['leadActivityEvents', 'tags.value'], json: (lead) => `${lead}.document::jsonb` },
  comparableState,
  mergedValues: {
    description: distinctLines,
    // A person who was scanned several times has several rows.
    numberOfScans: (values, count) => `greatest(${count}, (select sum(value) from unnest(${values}) v (value)))`,
    isEnriched: (values) => `select bool_or(value) from unnest(${values}) v (value)`,
    'phoneNumbers.leadProvided': distinctNumbers,
  },
  textLists: ['personalEmails', 'professionalEmails'],
  exclusiveEntries: {
    remoteIds: (lead, entry) => hasRemoteId(lead, `${entry} ->> 'integrationType'`, `${entry} ->> 'id'`),
  },
  aliases: LEAD_ALIASES,
});

export const LEADS = withCsv(dataset, LEAD_CSV);
