import { ActivationType } from '../../activations/activation.response';
import { EventType } from '../../events/event.response';
import {
  DateTime,
  Day,
  Email,
  EmailList,
  BooleanField,
  MAX_LENGTH,
  ListOf,
  MAX_ENTRIES,
  optionalNullable,
  ObjectOf,
  OneOf,
  optional,
  PreciseDateTime,
  Text,
  TimeOfDay,
  Uuid,
  UuidList,
  Int32,
} from '../../api-schema/fields';
import { MIN_INT32 } from '../../api-schema/schemas';
import { IndustryEventCreateV0Input } from '../../industry-events/industry-event.dto';
import { LeadActivityEventType } from '../../lead-activity-events/lead-activity-event.response';
import { MAX_PHONE_NUMBERS, PhoneNumber, MAX_REMOTE_IDS, RemoteId } from '../../leads/lead.response';
import { TagGroupStatus, TagOption } from '../../tag-groups/tag-group.response';

/**
 * The records of a dataset. What the API shows as nullable may be left out; what is left out has the value that a new
 * record would have. `createdAt` and the like let an export be imported without a loss; left out, a stored one stays.
 */

class LocationRecord {
  @Text(optionalNullable) streetAddress?: string | null;
  @Text(optionalNullable) city?: string | null;
  @Text(optionalNullable) state?: string | null;
  @Text(optionalNullable) zip?: string | null;
  @Text(optionalNullable) country?: string | null;
  @Text(optionalNullable) latitude?: string | null;
  @Text(optionalNullable) longitude?: string | null;
  @Text(optionalNullable) timeZone?: string | null;
}

export class UserRecord {
  @Email() email: string;
  @Text(optionalNullable) firstName?: string | null;
  @Text(optionalNullable) lastName?: string | null;
  @DateTime(optional) createdAt?: string;
}

export class TagGroupRecord {
  @Uuid() id: string;
  @Text() name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', optional) status: TagGroupStatus = 'PUBLISHED';
  @BooleanField(optional) allowsMultipleSelection: boolean = false;
  @Int32({ ...optional, min: MIN_INT32 }) displayOrder: number = 0;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) usageInstructions?: string | null;
  @BooleanField(optional) required: boolean = false;
  @BooleanField(optional) allEvents: boolean = false;
  @ListOf(() => TagOption, { ...optional, max: MAX_ENTRIES }) tagOptions: TagOption[] = [];
  @DateTime(optional) createdAt?: string;
}

export class EventRecord {
  /** the name by which other records of the dataset mean this event */
  @Text() ref: string;
  @Text() name: string;
  @OneOf(EventType, 'EventType') type: EventType;
  @BooleanField(optional) registrationEnabled: boolean = false;
  @Day(optionalNullable) startDate?: string | null;
  @Day({ ...optionalNullable, notBefore: 'startDate' }) endDate?: string | null;
  @ObjectOf(() => LocationRecord, optionalNullable) location?: LocationRecord | null;
  @UuidList({ ...optional, max: MAX_ENTRIES }) tagGroups: string[] = [];
  @EmailList({ ...optional, max: MAX_ENTRIES }) users: string[] = [];
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
}

export class ActivationRecord {
  @Uuid() id: string;
  @Text() event: string;
  @Text() name: string;
  @OneOf(ActivationType, 'ActivationType') type: ActivationType;
  @Day() startDate: string;
  @Day({ notBefore: 'startDate' }) endDate: string;
  @TimeOfDay() startTime: string;
  @TimeOfDay() endTime: string;
  @Email(optionalNullable) createdBy?: string | null;
  @ObjectOf(() => LocationRecord, optionalNullable) location?: LocationRecord | null;
  @EmailList({ ...optional, max: MAX_ENTRIES }) users: string[] = [];
  @Int32(optional) numberOfScans: number = 0;
  @DateTime(optional) createdAt?: string;
}

class CompanyRecord {
  @Text(optionalNullable) name?: string | null;
  @Text(optionalNullable) industry?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) linkedin?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) streetAddress?: string | null;
  @Text(optionalNullable) city?: string | null;
  @Text(optionalNullable) state?: string | null;
  @Text(optionalNullable) zip?: string | null;
  @Text(optionalNullable) country?: string | null;
}

class PhoneNumbersRecord {
  @ListOf(() => PhoneNumber, { ...optional, max: MAX_PHONE_NUMBERS }) leadProvided: PhoneNumber[] = [];
  @ListOf(() => PhoneNumber, { ...optional, max: MAX_PHONE_NUMBERS }) serviceProvided: PhoneNumber[] = [];
}

class TagRecord {
  @Uuid() tagOptionId: string;
}

class LeadActivationRecord {
  @Uuid() activationId: string;
  @BooleanField(optional) registered: boolean = false;
  @BooleanField(optional) checkedIn: boolean = false;
}

class LeadEventRecord {
  @Text() event: string;
  @BooleanField(optional) registered: boolean = false;
  @BooleanField(optional) checkedIn: boolean = false;
  /** the association's place in the event's list */
  @PreciseDateTime(optional) associatedAt?: string;
}

export class LeadRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Text(optionalNullable) firstName?: string | null;
  @Text(optionalNullable) lastName?: string | null;
  @Email(optionalNullable) email?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) description?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) linkedin?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) facebook?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) twitter?: string | null;
  @Text(optionalNullable) jobTitle?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) address?: string | null;
  @BooleanField(optional) isEnriched: boolean = false;
  @Int32(optional) numberOfScans: number = 0;
  @Email(optionalNullable) lastScannedBy?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) personalEmails?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) professionalEmails?: string | null;
  @ObjectOf(() => CompanyRecord, optionalNullable) company?: CompanyRecord | null;
  @ObjectOf(() => PhoneNumbersRecord, optionalNullable) phoneNumbers?: PhoneNumbersRecord | null;
  @ListOf(() => TagRecord, { ...optional, max: MAX_ENTRIES }) tags: TagRecord[] = [];
  @ListOf(() => LeadActivationRecord, { ...optional, max: MAX_ENTRIES }) activations: LeadActivationRecord[] = [];
  @ListOf(() => LeadEventRecord, { ...optional, max: MAX_ENTRIES }) events: LeadEventRecord[] = [];
  @ListOf(() => RemoteId, { ...optional, max: MAX_REMOTE_IDS }) remoteIds: RemoteId[] = [];
  @Email(optionalNullable) createdBy?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url }) profilePicture?: string | null;
}

export class LeadActivityEventRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType') eventType: LeadActivityEventType;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) eventNotes?: string | null;
  @Uuid() associatedLead: string;
  @Uuid(optionalNullable) associatedCampaign?: string | null;
  @Text(optionalNullable) associatedEvent?: string | null;
  @Uuid(optionalNullable) associatedActivation?: string | null;
  @Uuid(optionalNullable) associatedTagOption?: string | null;
}

export class IndustryEventRecord extends IndustryEventCreateV0Input {
  @Uuid(optional) id?: string;
  @DateTime(optional) createdAt?: string;
  @DateTime(optional) updatedAt?: string;
  /** whether the organization bookmarked it; left out, a bookmark stays as it is */
  @BooleanField(optional) isBookmarked?: boolean;
}

/** The sections of a dataset, in an order in which what is referred to comes first. */
export const RECORDS = {
  users: UserRecord,
  tagGroups: TagGroupRecord,
  events: EventRecord,
  activations: ActivationRecord,
  leads: LeadRecord,
  leadActivityEvents: LeadActivityEventRecord,
  industryEvents: IndustryEventRecord,
} as const;

export type SectionName = keyof typeof RECORDS;
export const SECTIONS = Object.keys(RECORDS) as SectionName[];
export const LAST_SECTION = SECTIONS[SECTIONS.length - 1] as SectionName;
