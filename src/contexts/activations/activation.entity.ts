import { Column, Index, Unique } from 'typeorm';
import { ListedUuidRow, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { ListedEntity } from '../../data/schema/lists';

@ListedEntity('activations')
@Unique('activations_organization_id_key', ['organizationId', 'id'])
@Index('activations_event_idx', ['organizationId', 'eventId'])
@RefersTo('EventEntity', 'eventId', 'activations_event_fkey')
export class ActivationEntity extends ListedUuidRow {
  @Column('bigint') eventId: number;
  @Column(NULLABLE_TEXT) createdBy: string | null;
  @Column('text') name: string;
  @Column('text') type: string;
  @Column('date') startDate: string;
  @Column('date') endDate: string;
  @Column({ type: 'time', precision: 0 }) startTime: string;
  @Column({ type: 'time', precision: 0 }) endTime: string;
  @Column('jsonb', { nullable: true }) location: object | null;

  /** The e-mail addresses of its users. */
  @Column('text', { array: true, default: '{}' }) users: string[];
  @Column('integer', { default: 0 }) numberOfScans: number;
}
