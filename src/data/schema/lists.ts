import { Entity, Index } from 'typeorm';
import { snakeCase } from '../database/data-source';
import { LIST_METADATA_KEY, type ListParent, type TrackedList } from '../database/tracked-list';

/** The tables of what is known of all lists, those of organization 0 included, which all organizations share. */
export const LIST_TABLES = ['list_counts', 'lists'];

interface ListOptions {
  parent?: ListParent;
  /** Whether all organizations share the list. */
  isShared?: boolean;
}

/** An entity whose rows form a list. Its triggers, totals, pages and consistency check are derived from this decorator. */
export const ListedEntity = (table: string, { parent, isShared = false }: ListOptions = {}): ClassDecorator => {
  const columns = [...(isShared ? [] : ['organizationId']), ...(parent ? [parent.property] : []), 'position'];
  return (target) => {
    Entity(table)(target);
    Index(`${table}_list_idx`, columns, { unique: true })(target);
    const parentList = parent && { table: parent.table, column: snakeCase(parent.property), type: parent.type };
    Reflect.defineMetadata(LIST_METADATA_KEY, { table, parent: parentList, isShared } satisfies TrackedList, target);
  };
};
