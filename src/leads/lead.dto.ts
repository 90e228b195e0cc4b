import { ApiSchema } from '@nestjs/swagger';
import { Email, LENGTHS, ListOf, maybe, nullable, ObjectOf, OneOf, optional, Text } from '../http/fields';
import { IntegrationType, MOST_PHONE_NUMBERS, PhoneNumber, SHOWN } from './lead.response';

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
  @Email({ ...optional, ...SHOWN.email }) email?: string;
  @ListOf(() => PhoneNumber, { ...optional, max: MOST_PHONE_NUMBERS, description: 'Numbers to reach the lead at.' })
  phoneNumbers?: PhoneNumber[];
}

@ApiSchema({ description: 'The identifier of a lead in one external system, or null to clear it.' })
export class RemoteIdInput {
  @Text({ ...nullable, blank: false, ...SHOWN.remoteId, description: 'The identifier. Null clears it.' })
  id: string | null;
  @OneOf(IntegrationType, 'IntegrationType', SHOWN.integrationType) integrationType: IntegrationType;
}

@ApiSchema({ description: 'Changes of a lead. What is left out stays as it is; what is null is cleared.' })
export class LeadPatchV0Input {
  @Text({ ...maybe, ...SHOWN.firstName, example: undefined }) firstName?: string | null;
  @Text({ ...maybe, ...SHOWN.lastName, example: undefined }) lastName?: string | null;
  @Email({ ...maybe, ...SHOWN.email, example: undefined }) email?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose, ...SHOWN.address }) address?: string | null;
  @Text({ ...maybe, max: LENGTHS.url, ...SHOWN.linkedin, example: undefined }) linkedin?: string | null;
  @Text({ ...maybe, max: LENGTHS.url, ...SHOWN.facebook }) facebook?: string | null;
  @Text({ ...maybe, max: LENGTHS.url, ...SHOWN.twitter }) twitter?: string | null;
  @Text({ ...maybe, max: LENGTHS.url, description: 'A picture of the person. Stored, and not shown in v0.' })
  profilePicture?: string | null;
  @Text({ ...maybe, max: LENGTHS.prose, ...SHOWN.description, example: undefined }) description?: string | null;
  @Text({ ...maybe, ...SHOWN.jobTitle }) jobTitle?: string | null;
  @ListOf(() => PhoneNumber, {
    ...maybe,
    max: MOST_PHONE_NUMBERS,
    description: 'Replaces all numbers that users entered; null and an empty array remove them.',
  })
  phoneNumbers?: PhoneNumber[] | null;
  @ObjectOf(() => RemoteIdInput, { ...optional }) remoteId?: RemoteIdInput;
}
