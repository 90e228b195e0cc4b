import { ApiSchema } from '@nestjs/swagger';
import { BooleanField, MAX_LENGTH, ListOf, MAX_ENTRIES, nullable, OneOf, Text, Uuid, Int32 } from '../../fields/fields';
import { ownColumns } from '../../fields/own-columns';
import { MIN_INT32 } from '../../fields/value-schemas';
import { json, jsonList } from '../../data/database/rendering';
import { EXAMPLE_TAG_GROUP_ID, EXAMPLE_TAG_OPTION_ID } from '../../openapi/example-ids';

export const TagGroupStatus = ['ARCHIVED', 'DRAFT', 'PUBLISHED'] as const;
export type TagGroupStatus = (typeof TagGroupStatus)[number];

@ApiSchema({ description: 'A tag.' })
export class TagOption {
  @Uuid({ description: 'The ID of the tag option.', example: EXAMPLE_TAG_OPTION_ID }) id: string;
  @Int32({ min: MIN_INT32, description: 'Position among the options, lowest first.', example: 1 })
  displayOrder: number;
  @Text({ description: 'The text of the tag.', example: 'Pumps' }) value: string;
}

@ApiSchema({ description: 'A group of related tags.' })
export class TagGroupV0Response {
  @Uuid({ description: 'The ID of the tag group.', example: EXAMPLE_TAG_GROUP_ID }) id: string;
  @Text({ description: 'Name of the group.', example: 'Interest' }) name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus', { description: 'Status of a tag group.', example: 'PUBLISHED' })
  status: TagGroupStatus;
  @BooleanField({ description: 'Whether several tags of the group may be selected.', example: true })
  allowsMultipleSelection: boolean;
  @Int32({ min: MIN_INT32, description: 'Position among the tag groups, lowest first.', example: 3 })
  displayOrder: number;
  @Text({
    ...nullable,
    max: MAX_LENGTH.prose,
    description: 'Instructions shown to users.',
    example: 'Choose all that apply.',
  })
  usageInstructions: string | null;
  @BooleanField({ description: 'Whether a selection is required.' }) required: boolean;
  @BooleanField({ description: 'Whether the group applies to all events.', example: true }) allEvents: boolean;
  @ListOf(() => TagOption, { max: MAX_ENTRIES, description: 'Options, in display order.' }) tagOptions: TagOption[];
}

/** The JSON text of a row of tag_groups. */
export const TAG_GROUP_JSON = json<TagGroupV0Response>({
  ...ownColumns(TagGroupV0Response),
  tagOptions: jsonList<TagOption>(
    ownColumns(TagOption),
    `tag_options where organization_id = tag_groups.organization_id and tag_group_id = tag_groups.id
      order by display_order, id`,
  ),
});
