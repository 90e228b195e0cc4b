import type { Render } from '../database/json';
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

/** Rendered by the database on every change of a lead or of what belongs to it (function lead_document). */
export const LEAD: Render = { stored: 'document' };
