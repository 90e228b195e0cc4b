import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Scope } from '../http/pipeline/scopes';
import { NULLABLE_TIMESTAMP, TIMESTAMP, RefersTo, NULLABLE_TEXT } from '../data/schema/columns';
import { WithUnscopedTables } from '../data/schema/tenancy';

/** The rows of its two tables belong to a key, by which every statement finds them, and are deleted with it. */
@WithUnscopedTables('key_usage', 'idempotent_answers')
@Entity('api_keys')
@Index('api_keys_organization_idx', ['organizationId', 'createdAt', 'id'])
@Unique('api_keys_hash_key', ['hash'])
@RefersTo('OrganizationEntity', 'organizationId', 'api_keys_organization_fkey')
export class ApiKeyEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('integer') organizationId: number;

  /** SHA-256 of the key; the key itself is stored nowhere. Only AccessService reads it. */
  @Column('bytea', { select: false }) hash: Buffer;

  /** The first characters of the key, for display. */
  @Column('text') prefix: string;
  @Column(NULLABLE_TEXT) label: string | null;

  /** The capacity of the bucket in tokens. */
  @Column('integer') maxTokens: number;

  /** The refill rate in tokens per second, with three decimals. The driver returns numeric values as text. */
  @Column('numeric', { precision: 10, scale: 3, transformer: { to: (rate: number) => rate, from: Number } })
  refillRate: number;

  /** What requests with the key may do (scopes.ts). It is decided when the key is issued. */
  @Column('text', { default: 'all' }) scope: Scope;

  /** The faults that each request with the key gets on a server that simulates them (`src/http/simulate/faults.ts`). */
  @Column(NULLABLE_TEXT) simulate: string | null;

  @Column(TIMESTAMP) createdAt: Date;
  @Column(NULLABLE_TIMESTAMP) expiresAt: Date | null;
  @Column(NULLABLE_TIMESTAMP) revokedAt: Date | null;
  @Column(NULLABLE_TIMESTAMP) lastUsedAt: Date | null;

  /**
   * The key that has replaced this one; null, too, for keys rotated before this was stored. It needs no foreign key, because
   * keys are only deleted with their organization.
   */
  @Column('uuid', { nullable: true }) successorId: string | null;
}
