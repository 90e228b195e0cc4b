import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { ListedUuidRow, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { ListedEntity } from '../../data/schema/lists';

@ListedEntity('tag_groups')
@Unique('tag_groups_organization_id_key', ['organizationId', 'id'])
@RefersTo('OrganizationEntity', 'organizationId', 'tag_groups_organization_fkey')
export class TagGroupEntity extends ListedUuidRow {
  @Column('text') name: string;
  @Column('text') status: string;
  @Column('boolean') allowsMultipleSelection: boolean;
  @Column('integer') displayOrder: number;
  @Column(NULLABLE_TEXT) usageInstructions: string | null;
  @Column('boolean') required: boolean;
  @Column('boolean') allEvents: boolean;
}

@Entity('tag_options')
@Unique('tag_options_organization_id_key', ['organizationId', 'id'])
@Index('tag_options_group_idx', ['organizationId', 'tagGroupId', 'displayOrder', 'id'])
@RefersTo('TagGroupEntity', 'tagGroupId', 'tag_options_group_fkey')
export class TagOptionEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
  @Column('integer') organizationId: number;
  @Column('uuid') tagGroupId: string;
  @Column('integer') displayOrder: number;
  @Column('text') value: string;
}
