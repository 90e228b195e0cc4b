import { ApiSchema } from '@nestjs/swagger';
import {
  BooleanField,
  MAX_LENGTH,
  ListOf,
  MAX_ENTRIES,
  nullable,
  OneOf,
  Text,
  Uuid,
  Int32,
} from '../api-schema/fields';
import { EXAMPLE_IDS, MIN_INT32 } from '../api-schema/schemas';

export const TagGroupStatus = ['ARCHIVED', 'DRAFT', 'PUBLISHED'] as const;
export type TagGroupStatus = (typeof TagGroupStatus)[number];

@ApiSchema({ description: 'A tag that users can choose.' })
export class TagOption {
  @Uuid({ description: 'The id of the tag option.', example: EXAMPLE_IDS.tagOption }) id: string;
  @Int32({ min: MIN_INT32, description: 'Its place among the options, from the lowest.', example: 1 })
  displayOrder: number;
  @Text({ description: 'The text of the tag.', example: 'Pumps' }) value: string;
}

@ApiSchema({ description: 'Tags of one kind, from which users choose.' })
export class TagGroupV0Response {
  @Uuid({ description: 'The id of the tag group.', example: EXAMPLE_IDS.tagGroup }) id: string;
  @Text({ description: 'What the tags are about.', example: 'Interest' }) name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', { description: 'Whether a tag group is in use.', example: 'PUBLISHED' })
  status: TagGroupStatus;
  @BooleanField({ description: 'Whether users may choose several of its tags.', example: true })
  allowsMultipleSelection: boolean;
  @Int32({ min: MIN_INT32, description: 'Its place among the tag groups, from the lowest.', example: 3 })
  displayOrder: number;
  @Text({
    ...nullable,
    max: MAX_LENGTH.prose,
    description: 'What users are told about choosing.',
    example: 'Choose all that apply.',
  })
  usageInstructions: string | null;
  @BooleanField({ description: 'Whether users must choose.' }) required: boolean;
  @BooleanField({ description: 'Whether it is offered at every event.', example: true }) allEvents: boolean;
  @ListOf(() => TagOption, { max: MAX_ENTRIES, description: 'Its options, in their order.' }) tagOptions: TagOption[];
}

/** The JSON text of a row of tag_groups. */
export const TAG_GROUP = `(select row_to_json(o)::text from (
  select id, name, status, allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
    usage_instructions as "usageInstructions", required, all_events as "allEvents",
    coalesce((select json_agg(row_to_json(t)) from (
      select id, display_order as "displayOrder", value from tag_options
      where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
      order by display_order, id) t), '[]') as "tagOptions") o)`;
