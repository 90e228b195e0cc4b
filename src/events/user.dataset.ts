import { DateTime, Email, optional, optionalNullable, Text } from '../api-schema/fields';
import type { Dataset } from '../dataset/dataset';

export class UserRecord {
  @Email() email: string;
  @Text(optionalNullable) firstName?: string | null;
  @Text(optionalNullable) lastName?: string | null;
  @DateTime(optional) createdAt?: string;
}

export const USERS: Dataset = { record: UserRecord, entity: 'UserEntity', key: 'email' };
