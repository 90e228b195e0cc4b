import { ApiSchema } from '@nestjs/swagger';
import { Email, LENGTHS, ListOf, ObjectOf, OneOf, Text } from '../http/fields';
import { IntegrationType, PHONE_NUMBERS, PhoneNumber, SHOWN } from './lead.response';

@ApiSchema({ description: 'A new lead.' })
export class LeadCreateV0Input {
  @Email({
    description: 'Who captures it: any address, also of somebody who is no user.',
    example: 'booth@example.com',
  })
  createdByEmail: string;
  @Text(SHOWN.firstName) firstName: string;
  @Text(SHOWN.lastName) lastName: string;
  @Text(SHOWN.companyName) companyName: string;
  @Email({ optional: true, ...SHOWN.email }) email?: string;
  @ListOf(() => PhoneNumber, { optional: true, max: PHONE_NUMBERS, description: 'Numbers to reach the lead at.' })
  phoneNumbers?: PhoneNumber[];
}

@ApiSchema({ description: 'The identifier of a lead in one external system, or null to clear it.' })
export class RemoteIdInput {
  @Text({ nullable: true, blank: false, ...SHOWN.remoteId, description: 'The identifier. Null clears it.' })
  id: string | null;
  @OneOf(IntegrationType, 'IntegrationType', SHOWN.integrationType) integrationType: IntegrationType;
}

const change = { optional: true, nullable: true } as const;

@ApiSchema({ description: 'Changes of a lead. What is left out stays as it is; what is null is cleared.' })
export class LeadPatchV0Input {
  @Text({ ...change, ...SHOWN.firstName, example: undefined }) firstName?: string | null;
  @Text({ ...change, ...SHOWN.lastName, example: undefined }) lastName?: string | null;
  @Email({ ...change, ...SHOWN.email, example: undefined }) email?: string | null;
  @Text({ ...change, max: LENGTHS.prose, ...SHOWN.address }) address?: string | null;
  @Text({ ...change, max: LENGTHS.url, ...SHOWN.linkedin, example: undefined }) linkedin?: string | null;
  @Text({ ...change, max: LENGTHS.url, ...SHOWN.facebook }) facebook?: string | null;
  @Text({ ...change, max: LENGTHS.url, ...SHOWN.twitter }) twitter?: string | null;
  @Text({ ...change, max: LENGTHS.url, description: 'A picture of the person. Stored, and not shown in v0.' })
  profilePicture?: string | null;
  @Text({ ...change, max: LENGTHS.prose, ...SHOWN.description, example: undefined }) description?: string | null;
  @Text({ ...change, ...SHOWN.jobTitle }) jobTitle?: string | null;
  @ListOf(() => PhoneNumber, {
    ...change,
    max: PHONE_NUMBERS,
    description: 'Replaces all numbers that users entered; null and an empty array remove them.',
  })
  phoneNumbers?: PhoneNumber[] | null;
  @ObjectOf(() => RemoteIdInput, { optional: true }) remoteId?: RemoteIdInput;
}
