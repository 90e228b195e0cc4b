import { type DataSource, Entity, Index } from 'typeorm';
import { snakeCase } from './data-source';

/** The parent of a list that each of them has for itself, as each event has a list of leads. */
interface Parent {
  /** the parents' table, whose primary key is `id` */
  table: string;
  /** the property, and so the column, that holds the parent's id */
  property: string;
  type: 'bigint' | 'integer' | 'uuid';
}

interface ListOptions {
  parent?: Parent;
  /** whether all organizations share the list */
  shared?: boolean;
}

/**
 * A list of rows in order of arrival, whose total and pages are found without counting or skipping rows
 * (functions/lists.sql). It is named after its table.
 */
export interface TrackedList {
  table: string;
  parent?: { table: string; column: string; type: Parent['type'] };
  shared: boolean;
}

type Class = new () => object;

const LISTED = Symbol('listed');

/** An entity whose rows are such a list. Its triggers, totals, pages and check follow by this. */
export const ListedEntity = (table: string, { parent, shared = false }: ListOptions = {}): ClassDecorator => {
  const columns = [...(shared ? [] : ['organizationId']), ...(parent ? [parent.property] : []), 'position'];
  return (target) => {
    Entity(table)(target);
    Index(`${table}_list_idx`, columns, { unique: true })(target);
    const ofParent = parent && { table: parent.table, column: snakeCase(parent.property), type: parent.type };
    Reflect.defineMetadata(LISTED, { table, parent: ofParent, shared } satisfies TrackedList, target);
  };
};

const ofClass = (target: object | string): TrackedList[] => {
  const list = Reflect.getMetadata(LISTED, target as object) as TrackedList | undefined;
  return list ? [list] : [];
};

/** @throws Error when the class is no `@ListedEntity` */
export function listOf(entity: Class): TrackedList {
  const [list] = ofClass(entity);
  if (!list) throw new Error(`${entity.name} is not declared by @ListedEntity`);
  return list;
}

/** All lists of the data source's entities, in the order of their tables' names. */
export const listsOf = ({ entityMetadatas }: DataSource): TrackedList[] =>
  entityMetadatas
    .flatMap(({ target }) => (typeof target === 'function' ? ofClass(target) : []))
    .sort((one, other) => one.table.localeCompare(other.table));
