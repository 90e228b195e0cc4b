import { Entity, Index } from 'typeorm';
import { snakeCase } from '../database/data-source';
import { LISTED, type ListParent, type TrackedList } from '../database/tracked-list';

interface ListOptions {
  parent?: ListParent;
  /** whether all organizations share the list */
  shared?: boolean;
}

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
