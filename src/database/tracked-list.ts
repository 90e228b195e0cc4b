import type { DataSource } from 'typeorm';

/** The parent of a list that each of them has for itself, as each event has a list of leads. */
export interface ListParent {
  /** the parents' table, whose primary key is `id` */
  table: string;
  /** the property, and so the column, that holds the parent's id */
  property: string;
  type: 'bigint' | 'integer' | 'uuid';
}

/**
 * A list of rows in order of arrival, whose total and pages are found without counting or skipping rows
 * (schema/functions/lists.sql). It is named after its table.
 */
export interface TrackedList {
  table: string;
  parent?: { table: string; column: string; type: ListParent['type'] };
  isShared: boolean;
}

type EntityClass = new () => object;

/** The key under which `@ListedEntity` (schema/lists.ts) keeps an entity's list. */
export const LIST_METADATA_KEY = Symbol('listed');

const listsOfClass = (target: object | string): TrackedList[] => {
  const list = Reflect.getMetadata(LIST_METADATA_KEY, target as object) as TrackedList | undefined;
  return list ? [list] : [];
};

/** @throws Error when the class is no `@ListedEntity` */
export function trackedListOf(entity: EntityClass): TrackedList {
  const [list] = listsOfClass(entity);
  if (!list) throw new Error(`${entity.name} is not declared by @ListedEntity`);
  return list;
}

/** All lists of the data source's entities, in the order of their tables' names. */
export const trackedListsOf = ({ entityMetadatas }: DataSource): TrackedList[] =>
  entityMetadatas
    .flatMap(({ target }) => (typeof target === 'function' ? listsOfClass(target) : []))
    .sort((one, other) => one.table.localeCompare(other.table));
