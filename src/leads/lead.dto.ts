import { Email, LENGTHS, ListOf, ObjectOf, OneOf, Text } from '../http/fields';
import { IntegrationType, PHONE_NUMBERS, PhoneNumber } from './lead.response';

export class LeadCreateV0Input {
  @Email({ description: 'Stored as the creator; need not be a known user.' }) createdByEmail: string;
  @Text() firstName: string;
  @Text() lastName: string;
  @Text() companyName: string;
  @Email({ optional: true }) email?: string;
  @ListOf(() => PhoneNumber, { optional: true, max: PHONE_NUMBERS }) phoneNumbers?: PhoneNumber[];
}

export class RemoteIdInput {
  @Text({ nullable: true, blank: false, description: 'Null clears the remote id of this integration type.' }) id:
    string | null;
  @OneOf(IntegrationType, 'IntegrationType') integrationType: IntegrationType;
}

const change = { optional: true, nullable: true } as const;

/** What is omitted is left unchanged; what is null is cleared. */
export class LeadPatchV0Input {
  @Text(change) firstName?: string | null;
  @Text(change) lastName?: string | null;
  @Email(change) email?: string | null;
  @Text({ ...change, max: LENGTHS.prose }) address?: string | null;
  @Text({ ...change, max: LENGTHS.url }) linkedin?: string | null;
  @Text({ ...change, max: LENGTHS.url }) facebook?: string | null;
  @Text({ ...change, max: LENGTHS.url }) twitter?: string | null;
  @Text({ ...change, max: LENGTHS.url, description: 'Stored, not shown in v0.' }) profilePicture?: string | null;
  @Text({ ...change, max: LENGTHS.prose }) description?: string | null;
  @Text(change) jobTitle?: string | null;
  @ListOf(() => PhoneNumber, {
    ...change,
    max: PHONE_NUMBERS,
    description: 'Replaces all numbers that users entered; null or [] removes them.',
  })
  phoneNumbers?: PhoneNumber[] | null;
  @ObjectOf(() => RemoteIdInput, { optional: true }) remoteId?: RemoteIdInput;
}
