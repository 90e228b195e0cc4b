import { ApiSchema } from '@nestjs/swagger';
import { objects } from '../database/json';
import { Flag, LENGTHS, ListOf, OneOf, Text, UNCOUNTED, Uuid, Whole } from '../http/fields';
import { EXAMPLE_IDS, LEAST_INT32 } from '../http/schemas';

export const TagGroupStatus = { ARCHIVED: 'ARCHIVED', DRAFT: 'DRAFT', PUBLISHED: 'PUBLISHED' } as const;
export type TagGroupStatus = keyof typeof TagGroupStatus;

@ApiSchema({ description: 'A tag that users can choose.' })
export class TagOption {
  @Uuid({ description: 'The id of the tag option.', example: EXAMPLE_IDS.tagOption }) id: string;
  @Whole({ min: LEAST_INT32, description: 'Its place among the options, from the lowest.', example: 1 })
  displayOrder: number;
  @Text({ description: 'The text of the tag.', example: 'Pumps' }) value: string;
}

@ApiSchema({ description: 'Tags of one kind, from which users choose.' })
export class TagGroupV0Response {
  @Uuid({ description: 'The id of the tag group.', example: EXAMPLE_IDS.tagGroup }) id: string;
  @Text({ description: 'What the tags are about.', example: 'Interest' }) name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', { description: 'Whether a tag group is in use.', example: 'PUBLISHED' })
  status: TagGroupStatus;
  @Flag({ description: 'Whether users may choose several of its tags.', example: true })
  allowsMultipleSelection: boolean;
  @Whole({ min: LEAST_INT32, description: 'Its place among the tag groups, from the lowest.', example: 3 })
  displayOrder: number;
  @Text({
    nullable: true,
    max: LENGTHS.prose,
    description: 'What users are told about choosing.',
    example: 'Choose all that apply.',
  })
  usageInstructions: string | null;
  @Flag({ description: 'Whether users must choose.' }) required: boolean;
  @Flag({ description: 'Whether it is offered at every event.', example: true }) allEvents: boolean;
  @ListOf(() => TagOption, { max: UNCOUNTED, description: 'Its options, in their order.' }) tagOptions: TagOption[];
}

export const TAG_GROUP = `
  select id, name, status, allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
    usage_instructions as "usageInstructions", required, all_events as "allEvents",
    ${objects(`select o.id, o.display_order as "displayOrder", o.value from tag_options o
      where o.organization_id = page.organization_id and o.tag_group_id = page.id
      order by o.display_order, o.id`)} as "tagOptions"
  from page`;
