import { Column, ForeignKey, type ColumnOptions, PrimaryColumn } from 'typeorm';

/** A row's position in its list, which a trigger sets (functions/lists.sql). */
export const POSITION: ColumnOptions = { type: 'bigint', select: false, insert: false, update: false };

/** A date and time with milliseconds, or null. */
export const NULLABLE_TIMESTAMP: ColumnOptions = { type: 'timestamptz', precision: 3, nullable: true };

/** A date and time with milliseconds. The default is the current time; an import may provide another one. */
export const TIMESTAMP: ColumnOptions = { type: 'timestamptz', precision: 3, default: () => 'now()' };

/** A text, or null. */
export const NULLABLE_TEXT: ColumnOptions = { type: 'text', nullable: true };

/** The decimal digits that every number of JSON keeps. */
export const MAX_EXACT_DIGITS = 15;

type DecimalColumn = Required<Pick<ColumnOptions, 'precision' | 'scale'>> & Pick<ColumnOptions, 'nullable' | 'default'>;

/**
 * The column of a `@Decimal` field with the same precision and scale. Up to a precision of 15, the property is a number; the
 * driver reads all numeric values as texts.
 */
export const decimalColumn = (options: DecimalColumn): ColumnOptions => ({
  type: 'numeric',
  ...options,
  transformer: Number(options.precision) <= MAX_EXACT_DIGITS ? DECIMAL : undefined,
});

const DECIMAL = {
  to: (value: unknown) => value,
  from: (text: string | null) => (text === null ? null : Number(text)),
};

/** The columns of a row of an organization's list. */
export abstract class ListedRow {
  @Column('integer') organizationId: number;
  @Column(POSITION) position: string;
  @Column(TIMESTAMP) createdAt: Date;
}

/** The columns of a listed row whose ID is a UUID. */
export abstract class ListedUuidRow extends ListedRow {
  @PrimaryColumn({ type: 'uuid', default: () => 'uuid_v7()' }) id: string;
}

type OnDelete = 'CASCADE' | 'SET NULL' | 'RESTRICT' | 'NO ACTION';

/**
 * A foreign key to a row of the same organization, or to the organization itself.
 * @param entity the name of the class, such as `EventEntity` or, for the organization, `OrganizationEntity`
 */
export const RefersTo = (entity: string, property: string, name: string, onDelete: OnDelete = 'CASCADE') =>
  property === 'organizationId'
    ? ForeignKey(entity, ['organizationId'], ['id'], { name, onDelete })
    : ForeignKey(entity, ['organizationId', property], ['organizationId', 'id'], { name, onDelete });
