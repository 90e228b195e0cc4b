import { OmitType } from '@nestjs/swagger';
import { v5 as uuidOf, v7 as uuid } from 'uuid';
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
} from '../api-schema/fields';
import { type Draft, field, type Field, list } from '../datasets/cells';
import { datasetOf } from '../datasets/dataset';
import { EventLeadEntity } from '../events/event.entity';
import { LeadPatchV0Input } from './lead.dto';
import { LeadActivationEntity, LeadEntity, LeadTagEntity } from './lead.entity';
import {
  IntegrationType,
  LeadCompany,
  LeadPhoneNumbers,
  MAX_REMOTE_IDS,
  PhoneNumberTypeEnum,
  RemoteId,
} from './lead.response';

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

/** Any constant: ids that are made from what another system calls a lead. */
const NAMESPACE = '0d9fd2a3-7b0a-4f4b-8f0e-6a1f1c0b5e5d';

/** Where there is no id: any text by which the file names the lead. The same text is the same lead, whenever it comes. */
const ref: Field = {
  name: 'ref',
  changes: 'id',
  put: (draft, cell, organizationId) => {
    if (cell !== '') draft.id ??= uuidOf(JSON.stringify([organizationId, cell]), NAMESPACE);
  },
};

/** One number a column; the first of a row is the preferred one. What is no list already stays, and is at fault. */
const phone = (name: string, type: PhoneNumberTypeEnum): Field => ({
  name,
  changes: 'phoneNumbers.leadProvided',
  put: (draft, number) => {
    const { leadProvided: others = [], ...more } = (draft.phoneNumbers ?? {}) as Draft;
    if (number === '' || !Array.isArray(others)) return;
    const added = { number, type, preferred: others.length === 0 };
    draft.phoneNumbers = { ...more, leadProvided: [...(others as unknown[]), added] };
  },
});

const phones = [
  phone('phone', 'UNKNOWN'),
  ...PhoneNumberTypeEnum.filter((type) => type !== 'UNKNOWN').map((type) => phone(`phone.${type.toLowerCase()}`, type)),
];

/** The id of one other system; those of others stay. */
const remoteId = (integrationType: IntegrationType): Field => ({
  name: `remoteIds.${integrationType}`,
  changes: 'remoteIds',
  merge: (stored, given) =>
    `set_remote_id(${stored}, jsonb_build_object('integrationType', '${integrationType}', 'id',
      jsonb_path_query_first(${given}, '$[*] ? (@.integrationType == "${integrationType}").id')))`,
  put: (draft, id) => {
    const all = draft.remoteIds ?? [];
    if (!Array.isArray(all)) return;
    const others = all.filter((other: Draft | null) => other?.integrationType !== integrationType) as unknown[];
    draft.remoteIds = id === '' ? others : [...others, { id, integrationType }];
  },
});

const numbers = list((number, index) => ({ number, type: 'UNKNOWN', preferred: index === 0 }));

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
  csv: {
    newId: uuid,
    fields: [
      field('phoneNumbers.leadProvided', numbers, undefined),
      field('phoneNumbers.serviceProvided', numbers, undefined),
      ref,
      ...phones,
      ...IntegrationType.map(remoteId),
    ],
  },
});
