import { dateTime, object, objects, values } from '../database/json';
import { DateTime, Email, Flag, LENGTHS, ListOf, ObjectOf, OneOf, Text, Uuid, UuidList, Whole } from '../http/fields';

export const PhoneNumberTypeEnum = {
  MOBILE: 'MOBILE',
  LANDLINE: 'LANDLINE',
  DIRECT: 'DIRECT',
  OFFICE: 'OFFICE',
  HQ: 'HQ',
  UNKNOWN: 'UNKNOWN',
} as const;
export type PhoneNumberTypeEnum = keyof typeof PhoneNumberTypeEnum;

export const IntegrationType = {
  WEBHOOK: 'WEBHOOK',
  MARKETO: 'MARKETO',
  HUB_SPOT: 'HUB_SPOT',
  ZOHO: 'ZOHO',
  SALES_FORCE: 'SALES_FORCE',
  PIPE_DRIVE: 'PIPE_DRIVE',
  ELOQUA: 'ELOQUA',
  PARDOT: 'PARDOT',
} as const;
export type IntegrationType = keyof typeof IntegrationType;

export const PHONE_NUMBERS = 50;

export class PhoneNumber {
  @Text({ example: '+31 20 555 0123' }) number: string;
  @OneOf(PhoneNumberTypeEnum, 'PhoneNumberTypeEnum') type: PhoneNumberTypeEnum;
  @Flag() preferred: boolean;
}

export class LeadPhoneNumbers {
  @ListOf(() => PhoneNumber, { max: PHONE_NUMBERS, description: 'Entered by users of the organization.' })
  leadProvided: PhoneNumber[];
  @ListOf(() => PhoneNumber, { max: PHONE_NUMBERS, description: "Supplied by the service's own data enrichment." })
  serviceProvided: PhoneNumber[];
}

export class LeadCompany {
  @Text({ nullable: true }) name: string | null;
  @Text({ nullable: true }) industry: string | null;
  @Text({ nullable: true, max: LENGTHS.url }) linkedin: string | null;
  @Text({ nullable: true, max: LENGTHS.prose }) streetAddress: string | null;
  @Text({ nullable: true }) city: string | null;
  @Text({ nullable: true }) state: string | null;
  @Text({ nullable: true }) zip: string | null;
  @Text({ nullable: true }) country: string | null;
}

export class LeadActivationSummary {
  @Uuid() activationId: string;
  @Flag() checkedIn: boolean;
  @Flag() registered: boolean;
}

export class LeadTag {
  @Uuid() tagOptionId: string;
  @Text() value: string;
}

/** The identifier of a lead in an external system; a lead has at most one of each. */
export class RemoteId {
  @Text() id: string;
  @OneOf(IntegrationType, 'IntegrationType') integrationType: IntegrationType;
}

const EMAILS = 'One or more e-mail addresses, separated by `;`, or null.';

/** A lead of the organization. */
export class LeadV0Response {
  @Uuid() id: string;
  @DateTime() createdAt: string;
  @Flag() isEnriched: boolean;
  @Text({ nullable: true }) firstName: string | null;
  @Text({ nullable: true }) lastName: string | null;
  @Email({ nullable: true }) email: string | null;
  @Text({ nullable: true, max: LENGTHS.prose }) description: string | null;
  @Text({ nullable: true, max: LENGTHS.url }) linkedin: string | null;
  @Text({ nullable: true, max: LENGTHS.url }) facebook: string | null;
  @Text({ nullable: true, max: LENGTHS.url }) twitter: string | null;
  @Text({ nullable: true }) jobTitle: string | null;
  @Text({ nullable: true, max: LENGTHS.prose }) address: string | null;
  @ObjectOf(() => LeadPhoneNumbers) phoneNumbers: LeadPhoneNumbers;
  @ObjectOf(() => LeadCompany) company: LeadCompany;
  @Whole() numberOfScans: number;
  @Email({ nullable: true }) lastScannedBy: string | null;
  @ListOf(() => LeadActivationSummary) activations: LeadActivationSummary[];
  @ListOf(() => LeadTag) tags: LeadTag[];
  @UuidList({ description: 'Ids of the activity events of this lead.' }) leadActivityEvents: string[];
  @ListOf(() => RemoteId) remoteIds: RemoteId[];
  @Text({ nullable: true, max: LENGTHS.prose, description: EMAILS }) personalEmails: string | null;
  @Text({ nullable: true, max: LENGTHS.prose, description: EMAILS }) professionalEmails: string | null;
}

const ofLead = (table: string, alias: string): string =>
  `${table} ${alias} where ${alias}.organization_id = page.organization_id and ${alias}.lead_id = page.id`;

export const LEAD = `
  select id, ${dateTime('created_at')} as "createdAt", is_enriched as "isEnriched",
    first_name as "firstName", last_name as "lastName", email, description, linkedin, facebook, twitter,
    job_title as "jobTitle", address,
    ${object(`lead_provided_phone_numbers as "leadProvided", service_provided_phone_numbers as "serviceProvided"`)}
      as "phoneNumbers",
    ${object(`company_name as name, company_industry as industry, company_linkedin as linkedin,
      company_street_address as "streetAddress", company_city as city, company_state as state, company_zip as zip,
      company_country as country`)} as company,
    number_of_scans as "numberOfScans", last_scanned_by as "lastScannedBy",
    ${objects(`select a.activation_id as "activationId", a.checked_in as "checkedIn", a.registered
      from ${ofLead('lead_activations', 'a')} order by a.position`)} as activations,
    ${objects(`select t.tag_option_id as "tagOptionId",
      (select o.value from tag_options o where o.organization_id = t.organization_id and o.id = t.tag_option_id) as value
      from ${ofLead('lead_tags', 't')} order by t.position`)} as tags,
    ${values('e.id', ofLead('lead_activity_events', 'e'), 'e.created_at, e.id')} as "leadActivityEvents",
    remote_ids as "remoteIds", personal_emails as "personalEmails", professional_emails as "professionalEmails"
  from page`;
