import {
  BooleanField,
  DateTime,
  Day,
  Email,
  EmailList,
  MAX_ENTRIES,
  ObjectOf,
  OneOf,
  optional,
  optionalNullable,
  Text,
  UuidList,
} from '../../fields/fields';
import { Location } from './location.response';
import { datasetOf } from '../../exchange/datasets/dataset';
import { EventEntity, EventTagGroupEntity, EventUserEntity, UserEntity } from './event.entity';
import { EventType } from './event.response';

export class UserRecord {
  @Email() email: string;
  @Text(optionalNullable) firstName?: string | null;
  @Text(optionalNullable) lastName?: string | null;
  @DateTime(optional) createdAt?: string;
}

export const USERS = datasetOf(UserRecord, UserEntity, { noun: 'user', key: 'email' });

export class EventRecord {
  /** The name by which other records of the dataset refer to the event. */
  @Text() ref: string;
  @Text() name: string;
  @OneOf(EventType, 'EventType') type: EventType;
  @BooleanField(optional) registrationEnabled: boolean = false;
  @Day(optionalNullable) startDate?: string | null;
  @Day({ ...optionalNullable, notBefore: 'startDate' }) endDate?: string | null;
  @ObjectOf(() => Location, optionalNullable) location?: Location | null;
  @UuidList({ ...optional, max: MAX_ENTRIES, distinct: true }) tagGroups: string[] = [];
  @EmailList({ ...optional, max: MAX_ENTRIES, distinct: true }) users: string[] = [];
  @DateTime(optional) createdAt?: string;
  @Email(optionalNullable) createdBy?: string | null;
}

export const EVENTS = datasetOf(EventRecord, EventEntity, {
  noun: 'event',
  key: 'ref',
  reportsIds: true,
  lists: [
    { name: 'tagGroups', entity: EventTagGroupEntity, key: 'tagGroupId' },
    { name: 'users', entity: EventUserEntity, key: 'userId' },
  ],
});
