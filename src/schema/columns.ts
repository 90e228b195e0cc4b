import { Column, ForeignKey, type ColumnOptions, PrimaryColumn } from 'typeorm';

/** A row's position in its list, which a trigger sets (functions/lists.sql). */
export const POSITION: ColumnOptions = { type: 'bigint', select: false, insert: false, update: false };

/** A moment, in milliseconds, or none. */
export const NULLABLE_TIMESTAMP: ColumnOptions = { type: 'timestamptz', precision: 3, nullable: true };

/** A moment, in milliseconds: now, unless an import says another one. */
export const TIMESTAMP: ColumnOptions = { type: 'timestamptz', precision: 3, default: () => 'now()' };

/** A text, or none. */
export const NULLABLE_TEXT: ColumnOptions = { type: 'text', nullable: true };

/** The columns of a row of an organization's list. */
export abstract class ListedRow {
  @Column('integer') organizationId: number;
  @Column(POSITION) position: string;
  @Column(TIMESTAMP) createdAt: Date;
}

/** The same, of a row whose id is a uuid. */
export abstract class ListedUuidRow extends ListedRow {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
}

type OnDelete = 'CASCADE' | 'SET NULL';

/** A foreign key to a row of the same organization, or to the organization itself. */
export const RefersTo = (entity: string, property: string, name: string, onDelete: OnDelete = 'CASCADE') =>
  property === 'organizationId'
    ? ForeignKey(entity, ['organizationId'], ['id'], { name, onDelete })
    : ForeignKey(entity, ['organizationId', property], ['organizationId', 'id'], { name, onDelete });
