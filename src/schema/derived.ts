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
  shared: boolean;
}

const DERIVED = Symbol('derived');

/** An entity with a derived column. */
export const Derived = (column: DerivedColumn): ClassDecorator => Reflect.metadata(DERIVED, column);

/** The derived columns of the data source's entities, in the order of their tables' names. */
export const derivedOf = ({ entityMetadatas }: DataSource): DerivedTable[] =>
  entityMetadatas
    .flatMap(({ target, tableName: table, ownColumns }): DerivedTable[] => {
      const derived = Reflect.getMetadata(DERIVED, target as object) as DerivedColumn | undefined;
      const shared = !ownColumns.some(({ propertyName }) => propertyName === 'organizationId');
      return derived ? [{ table, shared, ...derived }] : [];
    })
    .sort((one, other) => one.table.localeCompare(other.table));
