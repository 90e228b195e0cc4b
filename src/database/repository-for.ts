import type {
  DeepPartial,
  DeleteResult,
  FindManyOptions,
  FindOneOptions,
  FindOptionsWhere,
  InsertResult,
  Repository,
  UpdateResult,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import { RowNotFound } from '../errors/exceptions';
import { DUPLICATE } from '../errors/sql-states';
import { postgresErrorOf, hasSqlState } from './errors';
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
  private readonly organizationId: number;

  /** @throws Error when the entity has no `organizationId` */
  constructor(
    { organizationId }: Caller,
    private readonly repository: Repository<T>,
  ) {
    const { name, columns } = repository.metadata;
    if (!columns.some(({ propertyName }) => propertyName === 'organizationId')) {
      throw new Error(`${name} has no column organizationId, so its rows belong to no organization`);
    }
    this.organizationId = organizationId;
  }

  find(options: FindManyOptions<T> = {}): Promise<T[]> {
    return this.repository.find({ ...options, where: this.owned(options.where) });
  }

  findBy(where: Where<T>): Promise<T[]> {
    return this.find({ where });
  }

  /** The rows of a page, and the number of rows on all pages. */
  findAndCount(options: FindManyOptions<T> = {}): Promise<[T[], number]> {
    return this.repository.findAndCount({ ...options, where: this.owned(options.where) });
  }

  findOne(options: FindOneOptions<T>): Promise<T | null> {
    return this.repository.findOne({ ...options, where: this.owned(options.where) });
  }

  findOneBy(where: Where<T>): Promise<T | null> {
    return this.findOne({ where });
  }

  /** @throws RowNotFound which is sent as 404 */
  async findOneByOrFail(where: Where<T>): Promise<T> {
    const row = await this.findOneBy(where);
    if (!row) throw new RowNotFound();
    return row;
  }

  count(options: FindManyOptions<T> = {}): Promise<number> {
    return this.repository.count({ ...options, where: this.owned(options.where) });
  }

  countBy(where: Where<T>): Promise<number> {
    return this.count({ where });
  }

  existsBy(where: Where<T>): Promise<boolean> {
    return this.repository.exists({ where: this.owned(where) });
  }

  /** An instance of the entity that is not stored yet. */
  create(values: Values<T> = {} as Values<T>): T {
    return this.repository.create(this.ownedValues(values));
  }

  insert(values: Values<T> | Values<T>[]): Promise<InsertResult> {
    const rows = [values].flat().map((row) => this.ownedValues(row as Values<T>));
    return this.repository.insert(rows as QueryDeepPartialEntity<T>[]);
  }

  /**
   * Stores a row: updates the one with its primary key, if the organization has it, and inserts it otherwise. Rows in its
   * relations are not stored with it.
   * @throws RowNotFound when another organization has a row with this primary key
   */
  async save<V extends Values<T>>(values: V): Promise<V & T> {
    const row = this.repository.create(this.ownedValues(values));
    const { primaryColumns } = this.repository.metadata;
    const key = primaryColumns.map((column) => [column.propertyName, column.getEntityValue(row) as unknown] as const);
    const isStored = key.every(([, value]) => value !== undefined && value !== null);
    if (isStored && (await this.overwrite(Object.fromEntries(key) as FindOptionsWhere<T>, row))) return row as V & T;
    try {
      await this.repository.insert(row as QueryDeepPartialEntity<T>);
    } catch (error) {
      throw isStored && this.isPrimaryKeyViolation(error) ? new RowNotFound() : error;
    }
    return row as V & T;
  }

  private async overwrite(key: FindOptionsWhere<T>, row: T): Promise<boolean> {
    const result = await this.repository.update(this.ownedRow(key), row as QueryDeepPartialEntity<T>);
    return Boolean(result.affected);
  }

  private isPrimaryKeyViolation(error: unknown): boolean {
    const { dataSource, primaryColumns, tableName } = this.repository.metadata;
    const columns = primaryColumns.map(({ databaseName }) => databaseName);
    const name = dataSource.namingStrategy.primaryKeyName(tableName, columns);
    return hasSqlState(error, DUPLICATE) && postgresErrorOf(error).constraint === name;
  }

  /** @throws Error when the condition is empty or one of its values is undefined: it would match every row of the organization */
  update(where: FindOptionsWhere<T>, changes: Values<T>): Promise<UpdateResult> {
    const values = this.ownedValues(changes) as QueryDeepPartialEntity<T>;
    return this.repository.update(this.ownedRow(where), values);
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

  private owned(where: Where<T> = {}): Where<T> {
    const owner = { organizationId: this.organizationId };
    // TypeORM takes an empty list for no condition.
    if (Array.isArray(where) && where.length > 0)
      return where.map((each) => ({ ...each, ...owner }) as FindOptionsWhere<T>);
    return { ...(Array.isArray(where) ? {} : where), ...owner } as FindOptionsWhere<T>;
  }

  private ownedRow(where: FindOptionsWhere<T>): FindOptionsWhere<T> {
    const values = Object.values(where);
    if (values.length === 0 || values.includes(undefined)) {
      throw new Error(`A change of ${this.repository.metadata.name} needs a condition without undefined values`);
    }
    return { ...where, organizationId: this.organizationId } as FindOptionsWhere<T>;
  }

  private ownedValues(values: Values<T>): DeepPartial<T> {
    return { ...values, organizationId: this.organizationId } as DeepPartial<T>;
  }
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
