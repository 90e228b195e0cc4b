import type { DataSource } from 'typeorm';
import { decoratedEntities } from '../database/decorated-entities';

/** A column that triggers derive from the row and from other rows, so that reads need not render it. */
export interface DerivedColumn {
  /** What operators call the values of the column. */
  name: string;
  column: string;
  /** SQL that computes the value of the column. It refers to the row by the name of the table. */
  expression: string;
  /**
   * SQL that computes the value for a row that is not stored yet, under the alias `row`. An import computes all its rows by
   * it in one statement, which takes half the time of a trigger for each row.
   */
  newRowExpression?: { row: string; sql: string };
  /** The table that has the column, in a row of the same key for each row of the entity; by default the entity's own. */
  storedIn?: { table: string; key: string };
  /** The SQL functions and triggers that derive it. When their text changes, `migrate` rebuilds all rows. */
  functions: string;
}

/** A derived column of a table that has a uuid as its `id`. */
export interface DerivedTable extends DerivedColumn {
  table: string;
  /** Whether the rows belong to no organization. */
  isShared: boolean;
}

/** SQL of the rows of a table with their derived columns. */
export const withDerivedColumn = ({ table, storedIn }: DerivedTable): string =>
  storedIn ? `${table} full join ${storedIn.table} using (${storedIn.key})` : table;

/** SQL of the condition that the derived column of such a row is wrong, or that one of the two rows is missing. */
export const isStale = ({ column, expression }: DerivedTable): string => `${column} is distinct from ${expression}`;

/** SQL that derives a column anew where it is wrong, among the rows of the entity for which a condition holds. */
export function deriveAnew(derived: DerivedTable, condition: string): string {
  const { table, column, expression, storedIn } = derived;
  const isWrong = `${condition} and ${isStale(derived)}`;
  if (!storedIn) return `update ${table} set ${column} = ${expression} where ${isWrong}`;
  const { key } = storedIn;
  return `insert into ${storedIn.table} (${key}, ${column}) select ${key}, ${expression} from ${withDerivedColumn(derived)}
      where ${isWrong} and ${table}.id is not null on conflict (${key}) do update set ${column} = excluded.${column}`;
}

/** SQL that deletes the rows of a column's own table that belong to no row of the entity; undefined if it has no table. */
export function deleteOrphans(derived: DerivedTable, condition: string): string | undefined {
  const { table, storedIn } = derived;
  return (
    storedIn &&
    `delete from ${storedIn.table} where (${storedIn.key}) in (
        select ${storedIn.key} from ${withDerivedColumn(derived)} where ${condition} and ${table}.id is null)`
  );
}

/**
 * The setting of a transaction that inserts rows with their derived columns. In any other one, triggers compute the columns
 * whatever an insert says.
 */
export const INSERTS_DERIVED_COLUMNS = 'lanyard.inserts_derived_columns';

const DERIVED_METADATA_KEY = Symbol('derived');

/** An entity with derived columns. */
export const WithDerivedColumns = (...columns: DerivedColumn[]): ClassDecorator =>
  Reflect.metadata(DERIVED_METADATA_KEY, columns);

/** The derived columns of the data source's entities, in the order of their tables' names. */
export const derivedColumnsOf = (dataSource: DataSource): DerivedTable[] =>
  decoratedEntities<DerivedColumn[]>(dataSource, DERIVED_METADATA_KEY).flatMap(({ value, entity }) => {
    const isShared = !entity.ownColumns.some(({ propertyName }) => propertyName === 'organizationId');
    return value.map((column) => ({ ...column, table: entity.tableName, isShared }));
  });
