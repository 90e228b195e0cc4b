import { Column, Entity, PrimaryColumn } from 'typeorm';
import { WithFunctions } from '../schema/functions';
import { CHANGE_FUNCTIONS } from './change.functions';

/** A change of a record: which one, by which transaction, and nothing of what it holds. */
@Entity('changes')
@WithFunctions(CHANGE_FUNCTIONS)
export class ChangeEntity {
  @PrimaryColumn('integer') organizationId: number;
  /** the number of a followed resource */
  @PrimaryColumn('smallint') resource: number;
  /** of the transaction */
  @PrimaryColumn({ type: 'bigint', default: () => '((pg_current_xact_id()))' }) xid: string;
  @PrimaryColumn({ type: 'bigint', generatedIdentity: 'ALWAYS', generated: 'identity' }) seq: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' }) at: Date;
  @Column('bigint', { nullable: true }) eventId: string | null;
  @Column('character', { length: 1 }) operation: string;
  @Column('uuid', { nullable: true }) id: string | null;
  /** those that a deleted lead had */
  @Column('jsonb', { nullable: true }) remoteIds: object | null;
}
