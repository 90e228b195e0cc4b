import { ApiSchema } from '@nestjs/swagger';
import {
  Email,
  MAX_LENGTH,
  ListOf,
  optionalNullable,
  nullable,
  ObjectOf,
  OneOf,
  optional,
  Text,
} from '../api-schema/fields';
import { IntegrationType, MAX_PHONE_NUMBERS, PhoneNumber, FIELD_DOCS } from './lead.response';

@ApiSchema({ description: 'A new lead.' })
export class LeadCreateV0Input {
  @Email({
    description: 'Who captures it: any address, also of somebody who is no user.',
    example: 'booth@example.com',
  })
  createdByEmail: string;
  @Text(FIELD_DOCS.firstName) firstName: string;
  @Text(FIELD_DOCS.lastName) lastName: string;
  @Text(FIELD_DOCS.companyName) companyName: string;
  @Email({ ...optional, ...FIELD_DOCS.email }) email?: string;
  @ListOf(() => PhoneNumber, { ...optional, max: MAX_PHONE_NUMBERS, description: 'Numbers to reach the lead at.' })
  phoneNumbers?: PhoneNumber[];
}

@ApiSchema({ description: 'The identifier of a lead in one external system, or null to clear it.' })
export class RemoteIdInput {
  @Text({ ...nullable, blank: false, ...FIELD_DOCS.remoteId, description: 'The identifier. Null clears it.' })
  id: string | null;
  @OneOf(IntegrationType, 'IntegrationType', FIELD_DOCS.integrationType) integrationType: IntegrationType;
}

@ApiSchema({ description: 'Changes of a lead. What is left out stays as it is; what is null is cleared.' })
export class LeadPatchV0Input {
  @Text({ ...optionalNullable, ...FIELD_DOCS.firstName, example: undefined }) firstName?: string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.lastName, example: undefined }) lastName?: string | null;
  @Email({ ...optionalNullable, ...FIELD_DOCS.email, example: undefined }) email?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose, ...FIELD_DOCS.address }) address?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url, ...FIELD_DOCS.linkedin, example: undefined }) linkedin?:
    string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url, ...FIELD_DOCS.facebook }) facebook?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.url, ...FIELD_DOCS.twitter }) twitter?: string | null;
  @Text({
    ...optionalNullable,
    max: MAX_LENGTH.url,
    description: 'A picture of the person. Stored, and not shown in v0.',
  })
  profilePicture?: string | null;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose, ...FIELD_DOCS.description, example: undefined }) description?:
    string | null;
  @Text({ ...optionalNullable, ...FIELD_DOCS.jobTitle }) jobTitle?: string | null;
  @ListOf(() => PhoneNumber, {
    ...optionalNullable,
    max: MAX_PHONE_NUMBERS,
    description: 'Replaces all numbers that users entered; null and an empty array remove them.',
  })
  phoneNumbers?: PhoneNumber[] | null;
  @ObjectOf(() => RemoteIdInput, { ...optional }) remoteId?: RemoteIdInput;
}
