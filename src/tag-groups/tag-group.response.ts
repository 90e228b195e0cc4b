import { objects } from '../database/json';
import { Flag, LENGTHS, ListOf, OneOf, Text, Uuid, Whole } from '../http/fields';

export const TagGroupStatus = { ARCHIVED: 'ARCHIVED', DRAFT: 'DRAFT', PUBLISHED: 'PUBLISHED' } as const;
export type TagGroupStatus = keyof typeof TagGroupStatus;

export class TagOption {
  @Uuid() id: string;
  @Whole() displayOrder: number;
  @Text() value: string;
}

/** Tags of one kind, from which users choose. */
export class TagGroupV0Response {
  @Uuid() id: string;
  @Text() name: string;
  @OneOf(TagGroupStatus, 'TagGroupStatus') status: TagGroupStatus;
  @Flag() allowsMultipleSelection: boolean;
  @Whole() displayOrder: number;
  @Text({ nullable: true, max: LENGTHS.prose }) usageInstructions: string | null;
  @Flag() required: boolean;
  @Flag() allEvents: boolean;
  @ListOf(() => TagOption) tagOptions: TagOption[];
}

export const TAG_GROUP = `
  select id, name, status, allows_multiple_selection as "allowsMultipleSelection", display_order as "displayOrder",
    usage_instructions as "usageInstructions", required, all_events as "allEvents",
    ${objects(`select o.id, o.display_order as "displayOrder", o.value from tag_options o
      where o.organization_id = page.organization_id and o.tag_group_id = page.id
      order by o.display_order, o.id`)} as "tagOptions"
  from page`;
