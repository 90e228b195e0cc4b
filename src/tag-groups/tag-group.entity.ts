import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('tag_groups')
@Unique('tag_groups_organization_id_key', ['organizationId', 'id'])
@Index('tag_groups_list_idx', ['organizationId', 'position'], { unique: true })
@ForeignKey('OrganizationEntity', ['organizationId'], ['id'], {
  name: 'tag_groups_organization_fkey',
  onDelete: 'CASCADE',
})
export class TagGroupEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' })
  id: string;

  @Column('integer')
  organizationId: number;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column('text')
  name: string;

  @Column('text')
  status: string;

  @Column('boolean')
  allowsMultipleSelection: boolean;

  @Column('integer')
  displayOrder: number;

  @Column('text', { nullable: true })
  usageInstructions: string | null;

  @Column('boolean')
  required: boolean;

  @Column('boolean')
  allEvents: boolean;
}

@Entity('tag_options')
@Unique('tag_options_organization_id_key', ['organizationId', 'id'])
@Index('tag_options_group_idx', ['organizationId', 'tagGroupId', 'displayOrder', 'id'])
@ForeignKey('TagGroupEntity', ['organizationId', 'tagGroupId'], ['organizationId', 'id'], {
  name: 'tag_options_group_fkey',
  onDelete: 'CASCADE',
})
export class TagOptionEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' })
  id: string;

  @Column('integer')
  organizationId: number;

  @Column('uuid')
  tagGroupId: string;

  @Column('integer')
  displayOrder: number;

  @Column('text')
  value: string;
}
