import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

const organizationAndId: [string, string] = ['organizationId', 'id'];

@Entity('lead_activity_events')
@Index('lead_activity_events_list_idx', ['organizationId', 'position'], { unique: true })
@Index('lead_activity_events_lead_idx', ['organizationId', 'leadId', 'position'])
@Index('lead_activity_events_type_idx', ['organizationId', 'eventType', 'position'])
@Index('lead_activity_events_event_idx', ['organizationId', 'eventId'], { where: 'event_id IS NOT NULL' })
@Index('lead_activity_events_activation_idx', ['organizationId', 'activationId'], {
  where: 'activation_id IS NOT NULL',
})
@Index('lead_activity_events_tag_option_idx', ['organizationId', 'tagOptionId'], {
  where: 'tag_option_id IS NOT NULL',
})
@ForeignKey('LeadEntity', ['organizationId', 'leadId'], organizationAndId, {
  name: 'lead_activity_events_lead_fkey',
  onDelete: 'CASCADE',
})
@ForeignKey('EventEntity', ['organizationId', 'eventId'], organizationAndId, {
  name: 'lead_activity_events_event_fkey',
  onDelete: 'SET NULL',
})
@ForeignKey('ActivationEntity', ['organizationId', 'activationId'], organizationAndId, {
  name: 'lead_activity_events_activation_fkey',
  onDelete: 'SET NULL',
})
@ForeignKey('TagOptionEntity', ['organizationId', 'tagOptionId'], organizationAndId, {
  name: 'lead_activity_events_tag_option_fkey',
  onDelete: 'SET NULL',
})
export class LeadActivityEventEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' })
  id: string;

  @Column('integer')
  organizationId: number;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column('text', { nullable: true })
  createdBy: string | null;

  @Column('text')
  eventType: string;

  @Column('text', { nullable: true })
  eventNotes: string | null;

  @Column('uuid')
  leadId: string;

  @Column('uuid', { nullable: true })
  campaignId: string | null;

  @Column('bigint', { nullable: true })
  eventId: number | null;

  @Column('uuid', { nullable: true })
  activationId: string | null;

  @Column('uuid', { nullable: true })
  tagOptionId: string | null;
}
