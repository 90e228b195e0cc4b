import type {
  DeepPartial,
  DeleteResult,
  FindManyOptions,
  FindOneOptions,
  FindOptionsWhere,
  InsertResult,
  ObjectLiteral,
  Repository,
  UpdateResult,
} from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { RowNotFound } from '../../errors/exceptions';
import { violatesConstraint } from './errors';
import type { Caller } from './statements';

/** An entity whose rows belong to organizations. */
export interface Owned {
  organizationId: number;
}

type Where<T> = FindOptionsWhere<T> | FindOptionsWhere<T>[];

/** The columns that a request may set. The organization of a row is always the caller's. */
type Values<T> = DeepPartial<Omit<T, 'organizationId'>>;

/**
 * The rows of an entity that belong to the caller's organization. Rows of other organizations are neither found nor changed,
 * whatever the conditions say. Tables that a query joins are not looked at: let their foreign keys lead with
 * `organization_id`.
 */
export class OrganizationRepository<T extends Owned> {
  private readonly owner: Owned;

  /** @throws Error when the entity has no `organizationId` */
  constructor(
    { organizationId }: Caller,
    private readonly repository: Repository<T>,
  ) {
    const { name, columns } = repository.metadata;
    if (!columns.some(({ propertyName }) => propertyName === 'organizationId')) {
      throw new Error(`${name} has no column organizationId, so its rows belong to no organization`);
    }
    this.owner = { organizationId };
  }

  find(options: FindManyOptions<T> = {}): Promise<T[]> {
    return this.repository.find(this.owned(options));
  }

  findBy(where: Where<T>): Promise<T[]> {
    return this.find({ where });
  }

  /** The rows of a page, and the number of rows on all pages. */
  findAndCount(options: FindManyOptions<T> = {}): Promise<[T[], number]> {
    return this.repository.findAndCount(this.owned(options));
  }

  findOne(options: FindOneOptions<T>): Promise<T | null> {
    return this.repository.findOne(this.owned(options));
  }

  findOneBy(where: Where<T>): Promise<T | null> {
    return this.findOne({ where });
  }

  /** @throws RowNotFound which is sent as 404 */
  async findOneOrFail(options: FindOneOptions<T>): Promise<T> {
    const row = await this.findOne(options);
    if (!row) throw new RowNotFound();
    return row;
  }

  /** @throws RowNotFound which is sent as 404 */
  findOneByOrFail(where: Where<T>): Promise<T> {
    return this.findOneOrFail({ where });
  }

  count(options: FindManyOptions<T> = {}): Promise<number> {
    return this.repository.count(this.owned(options));
  }

  countBy(where: Where<T>): Promise<number> {
    return this.count({ where });
  }

  existsBy(where: Where<T>): Promise<boolean> {
    return this.repository.exists(this.owned({ where }));
  }

  /** An instance of the entity that is not stored yet. */
  create(values: Values<T> = {} as Values<T>): T {
    return this.repository.create({ ...values, ...this.owner } as DeepPartial<T>);
  }

  /** @throws Error as `save` does */
  async insert(values: Values<T> | Values<T>[]): Promise<InsertResult> {
    const rows = [values].flat().map((row) => ({ ...(row as QueryDeepPartialEntity<T>), ...this.owner }));
    for (const row of rows) this.requireSingleRow(row);
    return this.repository.insert(rows);
  }

  /**
   * Stores a row: updates the one with its primary key, if the organization has it, and inserts it otherwise. In a relation it
   * may have the primary key of a row that it refers to.
   * @throws RowNotFound when another organization has a row with this primary key
   * @throws Error when a relation has anything else, which would not be stored
   */
  async save<V extends Values<T>>(values: V): Promise<V & T> {
    const { metadata } = this.repository;
    const row = this.create(values);
    this.requireSingleRow(row);
    const columns = row as QueryDeepPartialEntity<T>;
    // Undefined if a part of the primary key is missing.
    const key = metadata.getEntityIdMap(row) as FindOptionsWhere<T> | undefined;
    if (key && (await this.repository.update(this.ownedRow(key), columns)).affected) return row as V & T;
    try {
      await this.repository.insert(columns);
    } catch (error) {
      const primaryKey = metadata.dataSource.namingStrategy.primaryKeyName(metadata.tableName, []);
      throw key && violatesConstraint(error, primaryKey) ? new RowNotFound() : error;
    }
    return row as V & T;
  }

  /** @throws Error when the condition is empty or one of its values is undefined: it would match every row of the organization */
  update(where: FindOptionsWhere<T>, changes: Values<T>): Promise<UpdateResult> {
    return this.repository.update(this.ownedRow(where), { ...changes, ...this.owner } as QueryDeepPartialEntity<T>);
  }

  /** @throws Error when the condition is empty or one of its values is undefined: it would match every row of the organization */
  delete(where: FindOptionsWhere<T>): Promise<DeleteResult> {
    return this.repository.delete(this.ownedRow(where));
  }

  /** Sets the `@DeleteDateColumn` of rows, which are no longer found then. @throws as `delete` does */
  softDelete(where: FindOptionsWhere<T>): Promise<UpdateResult> {
    return this.repository.softDelete(this.ownedRow(where));
  }

  /** Clears the `@DeleteDateColumn` of rows. @throws as `delete` does */
  restore(where: FindOptionsWhere<T>): Promise<UpdateResult> {
    return this.repository.restore(this.ownedRow(where));
  }

  private requireSingleRow(row: ObjectLiteral): void {
    const { name, relations } = this.repository.metadata;
    const lost = relations.find((relation) => hasUnstoredRow(relation, relation.getEntityValue(row)));
    if (!lost) return;
    throw new Error(
      `${name}.${lost.propertyName} would not be stored: repositoryFor() stores one row. ` +
        `Save the rows of ${lost.inverseEntityMetadata.name} by their own repository, within one dataSource.transaction().`,
    );
  }

  /** TypeORM takes an empty list of conditions for no condition. */
  private owned<O extends FindOneOptions<T>>(options: O): O {
    const where = [options.where].flat().map((each) => ({ ...(each as object), ...this.owner }));
    return { ...options, where: where.length > 0 ? where : this.owner };
  }

  private ownedRow(where: FindOptionsWhere<T>): FindOptionsWhere<T> {
    const values = Object.values(where);
    if (values.length === 0 || values.includes(undefined)) {
      throw new Error(`A change of ${this.repository.metadata.name} needs a condition without undefined values`);
    }
    return { ...where, ...this.owner };
  }
}

/** Whether a relation has more than what the columns of its own row hold, which are the key of the row that it refers to. */
function hasUnstoredRow(relation: RelationMetadata, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  const { joinColumns, isOwning, isManyToMany, isCascadeInsert, isCascadeUpdate } = relation;
  if (!isOwning || isManyToMany) return true;
  if (typeof value !== 'object') return false;
  const stored = joinColumns.flatMap(({ referencedColumn }) => referencedColumn?.propertyName ?? []);
  const isStored = (property: string): boolean => property === 'organizationId' || stored.includes(property);
  const given = Object.entries(value).flatMap(([property, each]) => (each === undefined ? [] : property));
  const hasKey = stored.every((property) => property === 'organizationId' || given.includes(property));
  const isChanged = (isCascadeInsert || isCascadeUpdate) && !given.every(isStored);
  return !hasKey || isChanged;
}

/**
 * The caller's rows of a repository.
 *
 * @example
 * ```ts
 * constructor(@InjectRepository(Hall) private readonly halls: Repository<Hall>) {}
 *
 * find(caller: Caller): Promise<Hall[]> {
 *   return repositoryFor(caller, this.halls).find({ order: { name: 'ASC' } });
 * }
 * ```
 */
export const repositoryFor = <T extends Owned>(caller: Caller, repository: Repository<T>): OrganizationRepository<T> =>
  new OrganizationRepository(caller, repository);
