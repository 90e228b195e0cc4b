import { ActivationType } from '../../activations/activation.response';
import { EventType } from '../../events/event.response';
import {
  DateTime,
  Day,
  Email,
  EmailList,
  Flag,
  LENGTHS,
  ListOf,
  MOST_ENTRIES,
  maybe,
  ObjectOf,
  OneOf,
  optional,
  PreciseDateTime,
  Text,
  TimeOfDay,
  Uuid,
  UuidList,
  Whole,
} from '../../http/fields';
import { LEAST_INT32 } from '../../http/schemas';
import { IndustryEventCreateV0Input } from '../../industry-events/industry-event.dto';
import { LeadActivityEventType } from '../../lead-activity-events/lead-activity-event.response';
import { MOST_PHONE_NUMBERS, PhoneNumber, MOST_REMOTE_IDS, RemoteId } from '../../leads/lead.response';
import { TagGroupStatus, TagOption } from '../../tag-groups/tag-group.response';

/**
 * The records of a dataset. What the API shows as nullable may be left out; what is left out has the value that a new
 * record would have. `createdAt` and the like let an export be imported without a loss; left out, a stored one stays.
 */

class LocationRecord {
  @Text(maybe) streetAddress?: string | null;
  @Text(maybe) city?: string | null;
  @Text(maybe) state?: string | null;
  @Text(maybe) zip?: string | null;
  @Text(maybe) country?: string | null;
  @Text(maybe) latitude?: string | null;
  @Text(maybe) longitude?: string | null;
  @Text(maybe) timeZone?: string | null;
}

export class UserRecord {
  @Email() email: string;
  @Text(maybe) firstName?: string | null;
  @Text(maybe) lastName?: string | null;
  @DateTime(optional) createdAt?: string;
}

export class TagGroupRecord {
  @Uuid() id: string;
  @Text() name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', optional) status: TagGroupStatus = 'PUBLISHED';
  @Flag(optional) allowsMultipleSelection: boolean = false;
  @Whole({ ...optional, min: LEAST_INT32 }) displayOrder: number = 0;
  @Text({ ...maybe, max: LENGTHS.prose }) usageInstructions?: string | null;
  @Flag(optional) required: boolean = false;
  @Flag(optional) allEvents: boolean = false;
  @ListOf(() => TagOption, { ...optional, max: MOST_ENTRIES }) tagOptions: TagOption[] = [];
  @DateTime(optional) createdAt?: string;
}

export class EventRecord {
  /** the name by which other records of the dataset mean this event */
  @Text() ref: string;
  @Text() name: string;
  @OneOf(EventType, 'EventType') type: EventType;
  @Flag(optional) registrationEnabled: boolean = false;
  @Day(maybe) startDate?: string | null;
  @Day({ ...maybe, notBefore: 'startDate' }) endDate?: string | null;
  @ObjectOf(() => LocationRecord, maybe) location?: LocationRecord | null;
  @UuidList({ ...optional, max: MOST_ENTRIES }) tagGroups: string[] = [];
  @EmailList({ ...optional, max: MOST_ENTRIES }) users: string[] = [];
  @DateTime(optional) createdAt?: string;
  @Email(maybe) createdBy?: string | null;
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
  @Email(maybe) createdBy?: string | null;
  @ObjectOf(() => LocationRecord, maybe) location?: LocationRecord | null;
  @EmailList({ ...optional, max: MOST_ENTRIES }) users: string[] = [];
  @Whole(optional) numberOfScans: number = 0;
  @DateTime(optional) createdAt?: string;
}

class CompanyRecord {
  @Text(maybe) name?: string | null;
  @Text(maybe) industry?: string | null;
  @Text({ ...maybe, max: LENGTHS.url }) linkedin?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose }) streetAddress?: string | null;
  @Text(maybe) city?: string | null;
  @Text(maybe) state?: string | null;
  @Text(maybe) zip?: string | null;
  @Text(maybe) country?: string | null;
}

class PhoneNumbersRecord {
  @ListOf(() => PhoneNumber, { ...optional, max: MOST_PHONE_NUMBERS }) leadProvided: PhoneNumber[] = [];
  @ListOf(() => PhoneNumber, { ...optional, max: MOST_PHONE_NUMBERS }) serviceProvided: PhoneNumber[] = [];
}

class TagRecord {
  @Uuid() tagOptionId: string;
}

class LeadActivationRecord {
  @Uuid() activationId: string;
  @Flag(optional) registered: boolean = false;
  @Flag(optional) checkedIn: boolean = false;
}

class LeadEventRecord {
  @Text() event: string;
  @Flag(optional) registered: boolean = false;
  @Flag(optional) checkedIn: boolean = false;
  /** the association's place in the event's list */
  @PreciseDateTime(optional) associatedAt?: string;
}

export class LeadRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Text(maybe) firstName?: string | null;
  @Text(maybe) lastName?: string | null;
  @Email(maybe) email?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose }) description?: string | null;
  @Text({ ...maybe, max: LENGTHS.url }) linkedin?: string | null;
  @Text({ ...maybe, max: LENGTHS.url }) facebook?: string | null;
  @Text({ ...maybe, max: LENGTHS.url }) twitter?: string | null;
  @Text(maybe) jobTitle?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose }) address?: string | null;
  @Flag(optional) isEnriched: boolean = false;
  @Whole(optional) numberOfScans: number = 0;
  @Email(maybe) lastScannedBy?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose }) personalEmails?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose }) professionalEmails?: string | null;
  @ObjectOf(() => CompanyRecord, maybe) company?: CompanyRecord | null;
  @ObjectOf(() => PhoneNumbersRecord, maybe) phoneNumbers?: PhoneNumbersRecord | null;
  @ListOf(() => TagRecord, { ...optional, max: MOST_ENTRIES }) tags: TagRecord[] = [];
  @ListOf(() => LeadActivationRecord, { ...optional, max: MOST_ENTRIES }) activations: LeadActivationRecord[] = [];
  @ListOf(() => LeadEventRecord, { ...optional, max: MOST_ENTRIES }) events: LeadEventRecord[] = [];
  @ListOf(() => RemoteId, { ...optional, max: MOST_REMOTE_IDS }) remoteIds: RemoteId[] = [];
  @Email(maybe) createdBy?: string | null;
  @Text({ ...maybe, max: LENGTHS.url }) profilePicture?: string | null;
}

export class LeadActivityEventRecord {
  @Uuid() id: string;
  @DateTime(optional) createdAt?: string;
  @Email(maybe) createdBy?: string | null;
  @OneOf(LeadActivityEventType, 'LeadActivityEventType') eventType: LeadActivityEventType;
  @Text({ ...maybe, max: LENGTHS.prose }) eventNotes?: string | null;
  @Uuid() associatedLead: string;
  @Uuid(maybe) associatedCampaign?: string | null;
  @Text(maybe) associatedEvent?: string | null;
  @Uuid(maybe) associatedActivation?: string | null;
  @Uuid(maybe) associatedTagOption?: string | null;
}

export class IndustryEventRecord extends IndustryEventCreateV0Input {
  @Uuid(optional) id?: string;
  @DateTime(optional) createdAt?: string;
  @DateTime(optional) updatedAt?: string;
  /** whether the organization bookmarked it; left out, a bookmark stays as it is */
  @Flag(optional) isBookmarked?: boolean;
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
