import { Column, Entity, PrimaryColumn } from 'typeorm';
import { WithFunctions } from '../../data/schema/functions';
import { WithUnscopedTables } from '../../data/schema/tenancy';
import { LOG_FUNCTIONS } from './change.functions';

/**
 * A log entry: which record was changed by which transaction, without the record's content. OrganizationsService deletes those of
 * an organization, in batches.
 */
@WithUnscopedTables('changes')
@Entity('changes')
@WithFunctions(LOG_FUNCTIONS)
export class ChangeEntity {
  @PrimaryColumn('integer') organizationId: number;
  /** The number of the feed resource. */
  @PrimaryColumn('smallint') resource: number;
  /** The number of the transaction. */
  @PrimaryColumn({ type: 'bigint', default: () => '((pg_current_xact_id()))' }) xid: string;
  @PrimaryColumn({ type: 'bigint', generatedIdentity: 'ALWAYS', generated: 'identity' }) seq: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' }) at: Date;
  /** The integer of the record's key: the id of an event, for example. */
  @Column('bigint', { nullable: true }) eventId: string | null;
  /** `c` for an insert, `u` for an update, `d` for a delete, `s` for a mark that older entries were pruned. */
  @Column('character', { length: 1 }) operation: string;
  /** The uuid of the record's key. */
  @Column('uuid', { nullable: true }) id: string | null;
  /** The remote ids that a deleted record had. */
  @Column('jsonb', { nullable: true }) remoteIds: object | null;
}
