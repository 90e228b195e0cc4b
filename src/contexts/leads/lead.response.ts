import { ApiSchema } from '@nestjs/swagger';
import {
  DateTime,
  Email,
  BooleanField,
  MAX_LENGTH,
  ListOf,
  MAX_ENTRIES,
  nullable,
  NumericId,
  ObjectOf,
  OneOf,
  Text,
  Uuid,
  UuidList,
  Int32,
} from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { json, jsonList, jsonObject } from '../../data/database/rendering';
import {
  EXAMPLE_LEAD_ID,
  EXAMPLE_ACTIVATION_ID,
  EXAMPLE_LEAD_ACTIVITY_EVENT_ID,
  EXAMPLE_TAG_OPTION_ID,
} from '../../openapi/example-ids';

export const PhoneNumberTypeEnum = ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'] as const;
export type PhoneNumberTypeEnum = (typeof PhoneNumberTypeEnum)[number];

export const IntegrationType = [
  'WEBHOOK',
  'MARKETO',
  'HUB_SPOT',
  'ZOHO',
  'SALES_FORCE',
  'PIPE_DRIVE',
  'ELOQUA',
  'PARDOT',
] as const;
export type IntegrationType = (typeof IntegrationType)[number];

export const MAX_PHONE_NUMBERS = 50;

/** Length and documentation of the fields that request bodies and responses have in common. */
export const LEAD_FIELD_DOCS = {
  firstName: { description: 'Given name.', example: 'Ada' },
  lastName: { description: 'Family name.', example: 'Rowe' },
  email: { description: 'E-mail address, including quoted and international ones.', example: 'ada.rowe@example.com' },
  companyName: { description: 'The name of the company.', example: 'Cobalt Systems' },
  description: { max: MAX_LENGTH.prose, description: 'Description.', example: 'Wants a quote for pumps in June.' },
  linkedin: {
    max: MAX_LENGTH.url,
    description: 'LinkedIn profile.',
    example: 'https://linkedin.example.com/in/ada-rowe',
  },
  facebook: { max: MAX_LENGTH.url, description: 'Facebook profile.' },
  twitter: { max: MAX_LENGTH.url, description: 'Twitter profile.' },
  jobTitle: { description: 'Job title.', example: 'Head of Procurement' },
  address: { max: MAX_LENGTH.prose, description: 'Postal address.' },
  remoteId: { description: 'Identifier in the external system.', example: '0035g00000XyZ' },
  integrationType: { description: 'External system that leads can be linked to.', example: 'SALES_FORCE' },
};

@ApiSchema({ description: 'A telephone number.' })
export class PhoneNumber {
  @Text({ description: 'Number as entered, in any format.', example: '+44 20 7946 0123' }) number: string;
  @OneOf(PhoneNumberTypeEnum, 'PhoneNumberTypeEnum', { description: 'Type of the number.' })
  type: PhoneNumberTypeEnum;
  @BooleanField({ description: 'Whether this is the preferred number.', example: true }) preferred: boolean;
}

/** The defaults, here and below, apply to fields that a record of a dataset omits. */
@ApiSchema({ description: 'Phone numbers of a lead, by source.' })
export class LeadPhoneNumbers {
  @ListOf(() => PhoneNumber, { max: MAX_PHONE_NUMBERS, description: 'Numbers entered by users of the organization.' })
  leadProvided: PhoneNumber[] = [];
  @ListOf(() => PhoneNumber, {
    max: MAX_PHONE_NUMBERS,
    description: 'Numbers added by data enrichment.',
    example: [{ number: '+44 20 7946 0100', type: 'HQ', preferred: false }],
  })
  serviceProvided: PhoneNumber[] = [];
}

@ApiSchema({ description: 'Company of a lead.' })
export class LeadCompany {
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.companyName }) name: string | null = null;
  @Text({ ...nullable, description: 'Industry.', example: 'Machinery' }) industry: string | null = null;
  @Text({ ...nullable, max: MAX_LENGTH.url, description: 'LinkedIn profile.' }) linkedin: string | null = null;
  @Text({ ...nullable, max: MAX_LENGTH.prose, description: 'Street and number.', example: '3 Mill Lane' })
  streetAddress: string | null = null;
  @Text({ ...nullable, description: 'City or town.', example: 'Leeds' }) city: string | null = null;
  @Text({ ...nullable, description: 'State or region.' }) state: string | null = null;
  @Text({ ...nullable, description: 'Postal code.', example: 'LS1 4AP' }) zip: string | null = null;
  @Text({ ...nullable, description: 'Country.', example: 'United Kingdom' }) country: string | null = null;
}

@ApiSchema({ description: 'Participation of a lead in an activation.' })
export class LeadActivationSummary {
  @Uuid({ description: 'The ID of the activation.', example: EXAMPLE_ACTIVATION_ID }) activationId: string;
  @BooleanField({ description: 'Whether the lead has checked in.', example: true }) checkedIn: boolean;
  @BooleanField({ description: 'Whether the lead is registered.', example: true }) registered: boolean;
}

@ApiSchema({ description: 'A tag of a lead.' })
export class LeadTag {
  @Uuid({ description: 'The ID of the tag option.', example: EXAMPLE_TAG_OPTION_ID }) tagOptionId: string;
  @Text({ description: 'The text of the tag.', example: 'Pumps' }) value: string;
}

@ApiSchema({ description: 'The identifier of a lead in an external system.' })
export class RemoteId {
  @Text(LEAD_FIELD_DOCS.remoteId) id: string;
  @OneOf(IntegrationType, 'IntegrationType', LEAD_FIELD_DOCS.integrationType) integrationType: IntegrationType;
}

/** A lead has at most one remote ID per integration type. */
export const MAX_REMOTE_IDS = IntegrationType.length;

const emails = (whose: string) => ({
  ...nullable,
  max: MAX_LENGTH.prose,
  description: `One or more ${whose} e-mail addresses, separated by \`;\`.`,
});

@ApiSchema({ description: 'A lead with all its data.' })
export class LeadV0Response {
  @Uuid({ description: 'The ID of the lead.', example: EXAMPLE_LEAD_ID }) id: string;
  @DateTime({ description: 'Date and time of capture.' }) createdAt: string;
  @BooleanField({ description: 'Whether the lead has been enriched.', example: true })
  isEnriched: boolean;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.firstName }) firstName: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.lastName }) lastName: string | null;
  @Email({ ...nullable, ...LEAD_FIELD_DOCS.email }) email: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.description }) description: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.linkedin }) linkedin: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.facebook }) facebook: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.twitter }) twitter: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.jobTitle }) jobTitle: string | null;
  @Text({ ...nullable, ...LEAD_FIELD_DOCS.address }) address: string | null;
  @ObjectOf(() => LeadPhoneNumbers) phoneNumbers: LeadPhoneNumbers;
  @ObjectOf(() => LeadCompany) company: LeadCompany;
  @Int32({ description: 'Number of scans.', example: 2 }) numberOfScans: number;
  @Email({
    ...nullable,
    description: 'E-mail address of the user who scanned the lead last.',
    example: 'booth@example.com',
  })
  lastScannedBy: string | null;
  @ListOf(() => LeadActivationSummary, {
    max: MAX_ENTRIES,
    description: 'Activations of the lead.',
  })
  activations: LeadActivationSummary[];
  @ListOf(() => LeadTag, { max: MAX_ENTRIES, description: 'Tags of the lead.' }) tags: LeadTag[];
  @UuidList({
    max: MAX_ENTRIES,
    description: 'IDs of the activity events of the lead.',
    example: [EXAMPLE_LEAD_ACTIVITY_EVENT_ID],
  })
  leadActivityEvents: string[];
  @ListOf(() => RemoteId, { max: MAX_REMOTE_IDS, description: 'Remote IDs, at most one of each integration type.' })
  remoteIds: RemoteId[];
  @Text({ ...emails('personal'), example: 'ada@home.example.com;a.rowe@home.example.com' })
  personalEmails: string | null;
  @Text(emails('professional')) professionalEmails: string | null;
}

const LeadOutcome = ['created', 'updated', 'unchanged'] as const;

@ApiSchema({ description: 'Outcome of an entry of a batch.' })
export class LeadUpsertV0Response {
  @OneOf(LeadOutcome, 'LeadOutcome', { description: 'Effect of the entry.' })
  outcome: (typeof LeadOutcome)[number];
  @ObjectOf(() => LeadV0Response) lead: LeadV0Response;
}

/**
 * SQL that renders the JSON text of a lead from its row `lead`. `lead_document` in lead.functions.ts stores it on every
 * change.
 */
export const LEAD_DOCUMENT_SQL = json<LeadV0Response>({
  ...ownColumns(LeadV0Response, 'lead.'),
  createdAt: `to_char(lead.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  phoneNumbers: jsonObject<LeadPhoneNumbers>({
    leadProvided: 'lead.lead_provided_phone_numbers',
    serviceProvided: 'lead.service_provided_phone_numbers',
  }),
  company: jsonObject<LeadCompany>(ownColumns(LeadCompany, 'lead.company_')),
  activations: jsonList<LeadActivationSummary>(
    ownColumns(LeadActivationSummary, 'a.'),
    `lead_activations a where a.organization_id = lead.organization_id and a.lead_id = lead.id order by a.position`,
  ),
  tags: jsonList<LeadTag>(
    {
      tagOptionId: 't.tag_option_id',
      value: `(select o.value from tag_options o where o.organization_id = t.organization_id and o.id = t.tag_option_id)`,
    },
    `lead_tags t where t.organization_id = lead.organization_id and t.lead_id = lead.id order by t.position`,
  ),
  leadActivityEvents: `coalesce((select json_agg(e.id order by e.position) from lead_activity_events e
    where e.organization_id = lead.organization_id and e.lead_id = lead.id), '[]')`,
});

/** The stored JSON text of a row of leads. */
export const LEAD_JSON = 'leads.document';

@ApiSchema({ description: 'Association of an event with a lead.' })
export class LeadEventV0Response {
  @NumericId({ description: 'The ID of the event.' }) eventId: number;
  @Text({ description: 'Name of the event.', example: 'Harbour Expo' }) eventName: string;
  @BooleanField({ description: 'Whether the lead is registered.', example: true }) registered: boolean;
  @BooleanField({ description: 'Whether the lead has checked in.', example: true }) checkedIn: boolean;
}

/** The JSON text of a row of event_leads joined with its event. */
export const LEAD_EVENT_JSON = json<LeadEventV0Response>({
  ...ownColumns(LeadEventV0Response, 'event_leads.'),
  eventName: 'events.name',
});
