import {
  BooleanField,
  DateTime,
  Int32,
  ListOf,
  MAX_ENTRIES,
  MAX_LENGTH,
  OneOf,
  optional,
  optionalNullable,
  Text,
  Uuid,
} from '../../fields/fields';
import { MIN_INT32 } from '../../fields/value-schemas';
import { datasetOf } from '../../exchange/datasets/dataset';
import { TagGroupEntity, TagOptionEntity } from './tag-group.entity';
import { TagGroupStatus, TagOption } from './tag-group.response';

export class TagGroupRecord {
  @Uuid() id: string;
  @Text() name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', optional) status: TagGroupStatus = 'PUBLISHED';
  @BooleanField(optional) allowsMultipleSelection: boolean = false;
  @Int32({ ...optional, min: MIN_INT32 }) displayOrder: number = 0;
  @Text({ ...optionalNullable, max: MAX_LENGTH.prose }) usageInstructions?: string | null;
  @BooleanField(optional) required: boolean = false;
  @BooleanField(optional) allEvents: boolean = false;
  @ListOf(() => TagOption, { ...optional, max: MAX_ENTRIES, distinct: 'id' }) tagOptions: TagOption[] = [];
  @DateTime(optional) createdAt?: string;
}

export const TAG_GROUPS = datasetOf(TagGroupRecord, TagGroupEntity, {
  noun: 'tag group',
  key: 'id',
  lists: [
    {
      name: 'tagOptions',
      entity: TagOptionEntity,
      noun: 'tag option',
      key: 'id',
      order: (row) => `${row}.display_order, ${row}.id`,
    },
  ],
});
