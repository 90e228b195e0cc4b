import type { DataSource, EntityMetadata } from 'typeorm';
import { ConfigError } from '../../config';
import { decoratedEntities } from './decorated-entities';

/** The parent of a list that exists once for each parent, as each event has a list of leads. */
export interface ListParent {
  /** The table of the parents, whose primary key is `id`. */
  table: string;
  /** The property, and so the column, that holds the parent's ID. */
  property: string;
  type: 'bigint' | 'integer' | 'uuid';
}

/**
 * A list of rows in order of arrival, whose total and pages are found without counting or skipping rows
 * (data/schema/functions/lists.sql). It is named after its table.
 */
export interface TrackedList {
  table: string;
  parent?: { table: string; column: string; type: ListParent['type'] };
  isShared: boolean;
}

type EntityClass = new () => object;

/** The key under which `@ListedEntity` (data/schema/lists.ts) keeps an entity's list. */
export const LIST_METADATA_KEY = Symbol('listed');

/** @throws Error when the class is not declared by `@ListedEntity` */
export function trackedListOf(entity: EntityClass): TrackedList {
  const list = Reflect.getMetadata(LIST_METADATA_KEY, entity) as TrackedList | undefined;
  if (!list) throw new Error(`${entity.name} is not declared by @ListedEntity`);
  return list;
}

/** @throws ConfigError when rows are hidden in place of being deleted, of which lists, totals and the feed know nothing */
function rejectSoftDelete({ name, deleteDateColumn }: EntityMetadata): void {
  if (!deleteDateColumn) return;
  throw new ConfigError(
    `${name} is a @ListedEntity with a @DeleteDateColumn (${deleteDateColumn.propertyName}), so its list, total, change feed ` +
      'and export would still have the deleted rows. Delete the rows, or use @Entity in place of @ListedEntity.',
  );
}

/**
 * All lists of the data source's entities, in the order of their tables' names.
 * @throws ConfigError when one of them has a `@DeleteDateColumn`
 */
export const trackedListsOf = (dataSource: DataSource): TrackedList[] =>
  decoratedEntities<TrackedList>(dataSource, LIST_METADATA_KEY).map(({ value: list, entity }) => {
    rejectSoftDelete(entity);
    return list;
  });
