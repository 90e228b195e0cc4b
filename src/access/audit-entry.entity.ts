import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { WithFunctions } from '../data/schema/functions';
import { WithUnscopedTables } from '../data/schema/tenancy';
import { AUDIT_FUNCTIONS } from './audit.functions';

/**
 * An entry of the audit log. It names the record and holds nothing of it, so it may stay when a person is erased, and when its
 * organization is deleted.
 */
@WithUnscopedTables('audit_log')
@Entity('audit_log')
@Index('audit_log_record_idx', ['id'], { where: 'id IS NOT NULL' })
@Index('audit_log_number_idx', ['eventId'], { where: 'id IS NULL AND event_id IS NOT NULL' })
@WithFunctions(AUDIT_FUNCTIONS)
export class AuditEntryEntity {
  /** 0 for what belongs to the installation. */
  @PrimaryColumn('integer') organizationId: number;
  @PrimaryColumn({ type: 'timestamptz', precision: 3, default: () => 'clock_timestamp()' }) at: Date;
  @PrimaryColumn({ type: 'bigint', generatedIdentity: 'ALWAYS', generated: 'identity' }) seq: string;
  /** The key that wrote; null for the command line, the process itself, and SQL. */
  @Column('uuid', { nullable: true }) keyId: string | null;
  @Column('uuid', { nullable: true }) importId: string | null;
  /** The integer of the record's key, and the uuid of it. */
  @Column('bigint', { nullable: true }) eventId: string | null;
  @Column('uuid', { nullable: true }) id: string | null;
  /** `c` for created, `u` for updated, `d` for deleted. */
  @Column('character', { length: 1 }) change: string;
  @Column('text') operation: string;
  @Column('text') resource: string;
  /** What an import was: its file and what became of the records. */
  @Column('jsonb', { nullable: true }) details: object | null;
}
