import { auditFunctions } from '../../access/audit.functions';
import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { ListedRow, TIMESTAMP, POSITION, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { WithFunctions } from '../../data/schema/functions';
import { ListedEntity } from '../../data/schema/lists';

const EVENT_PARENT = { table: 'events', property: 'eventId', type: 'bigint' } as const;

/** The columns that every table of an event's links begins with. */
abstract class EventLinkRow {
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn('bigint') eventId: number;
}

@ListedEntity('events')
@Unique('events_organization_id_key', ['organizationId', 'id'])
@Unique('events_ref_key', ['organizationId', 'ref'])
@RefersTo('OrganizationEntity', 'organizationId', 'events_organization_fkey')
export class EventEntity extends ListedRow {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  /** The name by which datasets refer to the event. */
  @Column('text', { default: () => '(gen_random_uuid())' }) ref: string;
  @Column(NULLABLE_TEXT) createdBy: string | null;
  @Column('text') name: string;
  @Column('text') type: string;
  @Column('boolean') registrationEnabled: boolean;
  @Column('date', { nullable: true }) startDate: string | null;
  @Column('date', { nullable: true }) endDate: string | null;
  @Column('jsonb', { nullable: true }) location: object | null;
}

@Entity('event_tag_groups')
@RefersTo('EventEntity', 'eventId', 'event_tag_groups_event_fkey')
@RefersTo('TagGroupEntity', 'tagGroupId', 'event_tag_groups_tag_group_fkey')
export class EventTagGroupEntity extends EventLinkRow {
  @PrimaryColumn('uuid') tagGroupId: string;
  @Column('integer') position: number;
}

@Entity('users')
@WithFunctions(auditFunctions('users', 'users', { organization: 'organization_id', integer: 'id' }))
@Unique('users_organization_id_key', ['organizationId', 'id'])
@Unique('users_email_key', ['organizationId', 'email'])
@RefersTo('OrganizationEntity', 'organizationId', 'users_organization_fkey')
export class UserEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('integer') organizationId: number;
  @Column(TIMESTAMP) createdAt: Date;
  @Column('text') email: string;
  @Column(NULLABLE_TEXT) firstName: string | null;
  @Column(NULLABLE_TEXT) lastName: string | null;
}

@ListedEntity('event_users', { parent: EVENT_PARENT })
@RefersTo('EventEntity', 'eventId', 'event_users_event_fkey')
@RefersTo('UserEntity', 'userId', 'event_users_user_fkey')
export class EventUserEntity extends EventLinkRow {
  @PrimaryColumn('bigint') userId: number;
  @Column(POSITION) position: string;
}

@ListedEntity('event_leads', { parent: EVENT_PARENT })
@Index('event_leads_lead_idx', ['organizationId', 'leadId'])
@RefersTo('EventEntity', 'eventId', 'event_leads_event_fkey')
@RefersTo('LeadEntity', 'leadId', 'event_leads_lead_fkey')
export class EventLeadEntity extends EventLinkRow {
  @PrimaryColumn('uuid') leadId: string;
  @Column(POSITION) position: string;

  /** The time of the association, with microseconds. */
  @Column({ type: 'timestamptz', default: () => 'now()' }) associatedAt: Date;
  @Column('boolean') registered: boolean;
  @Column('boolean') checkedIn: boolean;
}
