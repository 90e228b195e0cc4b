import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('activations')
@Unique('activations_organization_id_key', ['organizationId', 'id'])
@Index('activations_list_idx', ['organizationId', 'position'], { unique: true })
@Index('activations_event_idx', ['organizationId', 'eventId'])
@ForeignKey('EventEntity', ['organizationId', 'eventId'], ['organizationId', 'id'], {
  name: 'activations_event_fkey',
  onDelete: 'CASCADE',
})
export class ActivationEntity {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' })
  id: string;

  @Column('integer')
  organizationId: number;

  /** its place in its list; a trigger gives it */
  @Column({ type: 'bigint', select: false, insert: false, update: false })
  position: string;

  @Column('bigint')
  eventId: number;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  createdAt: Date;

  @Column('text', { nullable: true })
  createdBy: string | null;

  @Column('text')
  name: string;

  @Column('text')
  type: string;

  @Column('date')
  startDate: string;

  @Column('date')
  endDate: string;

  @Column({ type: 'time', precision: 0 })
  startTime: string;

  @Column({ type: 'time', precision: 0 })
  endTime: string;

  @Column('jsonb', { nullable: true })
  location: object | null;

  /** e-mail addresses */
  @Column('text', { array: true, default: '{}' })
  users: string[];

  @Column('integer', { default: 0 })
  numberOfScans: number;
}
