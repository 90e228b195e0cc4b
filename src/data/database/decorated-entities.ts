import type { DataSource, EntityMetadata } from 'typeorm';

/** What a decorator of ours says of an entity, under a metadata key of its class. */
interface Decorated<T> {
  value: T;
  entity: EntityMetadata;
}

/** The entities of a data source with such a decorator, in the order of their tables' names. */
export const decoratedEntities = <T>({ entityMetadatas }: DataSource, key: symbol): Decorated<T>[] =>
  entityMetadatas
    .flatMap((entity) => {
      // The table between two entities has no class.
      const isClass = typeof entity.target === 'function';
      const value = isClass ? (Reflect.getMetadata(key, entity.target) as T | undefined) : undefined;
      return value === undefined ? [] : [{ value, entity }];
    })
    .sort((one, other) => one.entity.tableName.localeCompare(other.entity.tableName));
