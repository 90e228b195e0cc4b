import type { DataSource } from 'typeorm';

/** A column that triggers derive from the row and from others, so that it is not rendered at each read. */
export interface DerivedColumn {
  /** what operators know the column's values as */
  name: string;
  column: string;
  /** SQL that gives the column's value anew, from a row by its table's name */
  expression: string;
  /** the SQL functions and triggers that derive it; when their text changes, `migrate` derives all rows anew */
  functions: string;
}

/** The same, of a table with a uuid as its `id`. */
export interface DerivedTable extends DerivedColumn {
  table: string;
  /** whether the rows belong to no organization */
  isShared: boolean;
}

const DERIVED_METADATA_KEY = Symbol('derived');

/** An entity with a derived column. */
export const WithDerivedColumn = (column: DerivedColumn): ClassDecorator =>
  Reflect.metadata(DERIVED_METADATA_KEY, column);

/** The derived columns of the data source's entities, in the order of their tables' names. */
export const derivedColumnsOf = ({ entityMetadatas }: DataSource): DerivedTable[] =>
  entityMetadatas
    .flatMap(({ target, tableName: table, ownColumns }): DerivedTable[] => {
      const derived = Reflect.getMetadata(DERIVED_METADATA_KEY, target as object) as DerivedColumn | undefined;
      const isShared = !ownColumns.some(({ propertyName }) => propertyName === 'organizationId');
      return derived ? [{ table, isShared, ...derived }] : [];
    })
    .sort((one, other) => one.table.localeCompare(other.table));
