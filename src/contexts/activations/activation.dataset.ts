import {
  DateTime,
  Day,
  Email,
  EmailList,
  Int32,
  MAX_ENTRIES,
  ObjectOf,
  OneOf,
  optional,
  optionalNullable,
  Text,
  TimeOfDay,
  Uuid,
} from '../../fields/fields';
import { Location } from '../events/location.response';
import { datasetOf } from '../../exchange/datasets/dataset';
import { ActivationEntity } from './activation.entity';
import { ActivationType } from './activation.response';

export class ActivationRecord {
  @Uuid() id: string;
  /** The ref of the event. */
  @Text() event: string;
  @Text() name: string;
  @OneOf(ActivationType, 'ActivationType') type: ActivationType;
  @Day() startDate: string;
  @Day({ notBefore: 'startDate' }) endDate: string;
  @TimeOfDay() startTime: string;
  @TimeOfDay() endTime: string;
  @Email(optionalNullable) createdBy?: string | null;
  @ObjectOf(() => Location, optionalNullable) location?: Location | null;
  @EmailList({ ...optional, max: MAX_ENTRIES }) users: string[] = [];
  @Int32(optional) numberOfScans: number = 0;
  @DateTime(optional) createdAt?: string;
}

export const ACTIVATIONS = datasetOf(ActivationRecord, ActivationEntity, {
  noun: 'activation',
  key: 'id',
  paths: { eventId: 'event' },
});
