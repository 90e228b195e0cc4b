import { Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** The columns that every table of an event's links begins with. */
abstract class OfEvent {
  @PrimaryColumn('integer')
  organizationId: number;

  @PrimaryColumn('bigint')
  eventId: number;
}

const toEvent: [string, string] = ['organizationId', 'eventId'];
const organizationAndId: [string, string] = ['organizationId', 'id'];

@Entity('events')
@Unique('events_organization_id_key', organizationAndId)
@Unique('events_ref_key', ['organizationId', 'ref'])
@Index('events_list_idx', ['organizationId', 'position'], { unique: true })
@ForeignKey('OrganizationEntity', ['organizationId'], ['id'], { name: 'events_organization_fkey', onDelete: 'CASCADE' })
export class EventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
  })
  id: string;

  @Column('integer')
  organizationId: number;

  /** the name by which datasets refer to the event */
  @Column('text', { default: () => '(gen_random_uuid())' })
  ref: string;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column('text', { nullable: true })
  createdBy: string | null;

  @Column('text')
  name: string;

  @Column('text')
  type: string;

  @Column('boolean')
  registrationEnabled: boolean;

  @Column('date', { nullable: true })
  startDate: string | null;

  @Column('date', { nullable: true })
  endDate: string | null;

  @Column('jsonb', { nullable: true })
  location: object | null;
}

@Entity('event_tag_groups')
@ForeignKey('EventEntity', toEvent, organizationAndId, { name: 'event_tag_groups_event_fkey', onDelete: 'CASCADE' })
@ForeignKey('TagGroupEntity', ['organizationId', 'tagGroupId'], organizationAndId, {
  name: 'event_tag_groups_tag_group_fkey',
  onDelete: 'CASCADE',
})
export class EventTagGroupEntity extends OfEvent {
  @PrimaryColumn('uuid')
  tagGroupId: string;

  @Column('integer')
  position: number;
}

@Entity('event_users')
@Index('event_users_list_idx', ['organizationId', 'eventId', 'position'], { unique: true })
@ForeignKey('EventEntity', toEvent, organizationAndId, { name: 'event_users_event_fkey', onDelete: 'CASCADE' })
@ForeignKey('UserEntity', ['organizationId', 'userId'], organizationAndId, {
  name: 'event_users_user_fkey',
  onDelete: 'CASCADE',
})
export class EventUserEntity extends OfEvent {
  @PrimaryColumn('bigint')
  userId: number;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;
}

@Entity('event_leads')
@Index('event_leads_list_idx', ['organizationId', 'eventId', 'position'], { unique: true })
@Index('event_leads_lead_idx', ['organizationId', 'leadId'])
@ForeignKey('EventEntity', toEvent, organizationAndId, { name: 'event_leads_event_fkey', onDelete: 'CASCADE' })
@ForeignKey('LeadEntity', ['organizationId', 'leadId'], organizationAndId, {
  name: 'event_leads_lead_fkey',
  onDelete: 'CASCADE',
})
export class EventLeadEntity extends OfEvent {
  @PrimaryColumn('uuid')
  leadId: string;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;

  /** in microseconds */
  @Column({ type: 'timestamptz', default: () => 'now()' })
  associatedAt: Date;

  @Column('boolean')
  registered: boolean;

  @Column('boolean')
  checkedIn: boolean;
}
