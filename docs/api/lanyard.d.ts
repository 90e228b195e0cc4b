// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.

import {
  BadRequestException,
  BeforeApplicationShutdown,
  ClassProvider,
  DynamicModule,
  FactoryProvider,
  Type,
  ValueProvider,
} from '@nestjs/common';

import {
  ColumnOptions,
  DataSource,
  DeepPartial,
  DeleteResult,
  EntityManager,
  FindManyOptions,
  FindOneOptions,
  FindOptionsWhere,
  InsertResult,
  MigrationInterface,
  Repository,
  UpdateResult,
} from 'typeorm';

export declare class ActivationsModule {}

export declare class ActivationsService {
  list(caller: Caller, page: PageQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, activationId: string): Promise<JsonText>;
}

export declare const BooleanField: (options?: FieldOptions) => PropertyDecorator;

/** The organization and the API key on whose behalf a statement runs. */
export interface Caller {
  organizationId: number;
  keyId: string;
  /** What the key calls, as the audit log names it. */
  operation?: string;
}

/** A change as the feed emits it, with the key of its record: `id`, for most resources. */
export interface Change {
  resource: string;
  operation: ChangeOperation;
  /** Date and time of the change; in a snapshot, of its start. */
  at: string;
  /** The record as its GET returns it; null when it is deleted. */
  record: Record<string, unknown> | null;
  [key: string]: unknown;
}

/** A method that gets the changes of one organization, page by page; the next page follows when its promise is fulfilled. */
export type ChangesHandler = (organizationId: number, changes: Change[], position: ChangesPosition) => Promise<void>;

export declare class ChangesModule {}

/** The position of a page of changes in the feed, and the end of the call. */
export interface ChangesPosition {
  /** `snapshot` while all existing records are emitted. The page that follows a snapshot is empty and has `changes`. */
  phase: ChangesPhase;
  hasMore: boolean;
  /** Aborted when the server stops or loses its database: another server may then call the method with the same page. */
  signal: AbortSignal;
}

/** The change feed (docs/decisions/0020). */
export declare class ChangesService {
  readonly resources: FeedResources;
  /** A cursor that begins now, with a snapshot unless `since` skips it. */
  start(caller: Caller, query: Pick<ChangesQuery, 'resources' | 'since'>): Promise<string>;
  /** Invalidates the cursors of all organizations. @returns the new generation of the log */
  reset(): Promise<number>;
  /** A page as JSON text, in parts. @throws as `page` does */
  pageJson(caller: Caller, query: ChangesQuery): Promise<string[]>;
  /**
   * @throws InvalidRequest
   * @throws GoneException when the log no longer has what comes after the cursor, or the cursor is of another database
   */
  page(caller: Caller, query: Partial<ChangesQuery>, maxBytes?: number): Promise<ChangesPage>;
}

/** What a method is called for. */
export interface ChangesSubscription {
  /** Identifies how far the method has the changes, so that it can be renamed and moved. Unique in a server. */
  name: string;
  /** Names of the feed's resources, such as `leads`; by default all. */
  resources?: string[];
  /** Whether the first changes of an organization are a snapshot of its records, or those that are made from now on. */
  start: 'snapshot' | 'now';
}

/** A bounded context: what the rest of Lanyard needs to know about it. */
export interface Context {
  module: Type;
  /** Its sections of import and export, by name. */
  sections?: Record<string, Dataset>;
  /** Its resources in the change feed. */
  feedResources?: readonly FeedResource[];
}

/** The caller as a handler's argument. */
export declare const CurrentCaller: (...dataOrPipes: unknown[]) => ParameterDecorator;

/**
 * What a section of a dataset holds: the record that import and export share, and the table that stores it. Columns,
 * their types and what they refer to come from the entity; a dataset declares only what the entity cannot.
 */
export interface Dataset {
  record: Class;
  entity: Class;
  /** What messages call one record, such as `tag group`. */
  noun: string;
  /** The field that identifies a record. Imports match it with stored rows, and other records refer to it. */
  key: string;
  /** The paths of properties of the entity whose fields have other names, such as `company.name`. */
  paths?: Record<string, string>;
  /** The properties of the entity that no field holds. Any other one without a field is an error at startup. */
  notExported?: readonly string[];
  /** The arrays of the record whose entries are rows of other tables. */
  lists?: RecordList[];
  /** The table whose rows render rows of this one. It is written right after this one, so that it renders each row once. */
  renderedBy?: string;
  /** The fields that are not columns. */
  computedFields?: Record<string, ComputedField>;
  readOnlyFields?: ReadOnlyFields;
  /** SQL of what GET shows of a row, if that is more than the record. An import that does not change it changes nothing. */
  comparableState?: (row: string) => string;
  /** Whether an import reports the ids of the records by their keys, because the database numbers them. */
  reportsIds?: boolean;
  /** The names that other programs give to fields, by the paths of the fields. */
  aliases?: Record<string, string[]>;
  /**
   * SQL of what several rows of a file that are one record have together, by the path of the field. It is made of the array
   * of their values that are not null, and of their number. By default the first value counts.
   */
  mergedValues?: Record<string, (values: string, count: string) => string>;
  /** The texts that are lists, whose entries `;` separates. */
  textLists?: string[];
  /** SQL of whether a row has an entry, a JSON object, that only one record may have, by the name of the list. */
  exclusiveEntries?: Record<string, (row: string, entry: string) => string>;
  /** How to import records that all organizations share. */
  shared?: SharedDataset;
}

/** A date-time, converted to ISO 8601 in UTC with milliseconds; the API reference shows that form. */
export declare const DateTime: (options?: FieldOptions) => PropertyDecorator;

/** The same in a body; the API reference shows every form that is accepted. */
export declare const DateTimeInput: (options?: NotBefore) => PropertyDecorator;

/** A day, YYYY-MM-DD. */
export declare const Day: ({ notBefore, ...options }?: NotBefore) => PropertyDecorator;

/**
 * A decimal number, of a `numeric` column. In JSON, it is a number up to a precision of 15, and beyond that a text such as
 * `"12345678901234567.89"`, because a number would be rounded; its SQL is then `column::text`. Nothing is ever rounded: a value
 * with more decimals than the scale is invalid.
 * @throws Error when the precision does not include the scale
 */
export declare function Decimal({ precision, scale, min, max, ...options }?: DecimalOptions): PropertyDecorator;

export declare const Email: (options?: FieldOptions) => PropertyDecorator;

export declare const EmailList: ({ max, distinct, ...options }?: ListOptions) => PropertyDecorator;

export declare class EventsModule {}

export declare class EventsService {
  list(caller: Caller, page: PageQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, eventId: number): Promise<JsonText>;
  create(caller: Caller, input: EventCreateV0Input): Promise<JsonText>;
  /** Location, tag groups, users and creator stay. @throws RowNotFound */
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<JsonText>;
  /** @throws RowNotFound */
  delete(caller: Caller, eventId: number): Promise<void>;
  /** @throws RowNotFound */
  listLeads(caller: Caller, eventId: number, page: PageQuery): Promise<Page>;
  /** @throws RowNotFound */
  listUsers(caller: Caller, eventId: number, page: PageQuery): Promise<Page>;
  /**
   * If a lead appears twice in the body, it keeps its first position and takes the flags of its last entry.
   * @returns the associations in the order of the body, as a JSON array
   * @throws RowNotFound when the event, or one of the leads, is not the organization's
   */
  associate(caller: Caller, eventId: number, { eventLeads }: EventAddLeadsV0Input): Promise<JsonText>;
  /** @throws RowNotFound */
  dissociate(caller: Caller, eventId: number, leadId: string): Promise<void>;
}

/** What a project of its own adds to Lanyard. */
export interface Extension {
  /** Any Nest modules. Their entities come with `TypeOrmModule.forFeature`. */
  modules?: (Type | DynamicModule)[];
  /** Migrations that run after Lanyard's own and are recorded in the same table. */
  migrations?: (new () => MigrationInterface)[];
  /**
   * Tables that foreign keys need not keep apart by organization, such as one whose rows all organizations share. Without the
   * name of such a table, it is an error at startup.
   */
  unscopedTables?: readonly string[];
  /** Contexts with sections of import and export, or with resources that the change feed follows. */
  contexts?: readonly Context[];
  /** Providers that take the place of those which a module, of Lanyard or of yours, has for the same tokens. */
  providers?: readonly ReplacingProvider[];
}

/** A resource whose changes are in the feed. */
export interface FeedResource extends TrackedList {
  /** The name that clients know it by, such as `leads`. */
  name: string;
  /**
   * Identifies the resource in the log and in cursors, so it must never change. A snapshot emits resources in the order of
   * their numbers: a resource has a higher number than those it refers to. Extensions use numbers from 1,000 on.
   */
  number: number;
  /** The response class of a record. */
  model: Type<object>;
  /** SQL for the JSON text of a record, from a row that has the table's name as its alias. */
  recordSql: string;
  /** What identifies a record: an integer, a uuid, or both. */
  key: {
    integer?: KeyField;
    uuid?: KeyField;
  };
  /**
   * SQL for the part of a row that its record is rendered from, where comparing that is cheaper than rendering the record
   * before and after an update.
   */
  changeDetector?: (row: 'old' | 'new') => string;
  /** Another table whose rows are part of the record, and its column that holds the record's id. */
  childTable?: {
    name: string;
    parentColumn: string;
  };
  /** The column with the record's ids in other systems, which the log keeps when the record is deleted. */
  remoteIds?: Omit<KeyField, 'name'>;
}

export declare class IndustryEventsModule {}

/** All organizations share the catalog. Bookmarks belong to one organization. */
export declare class IndustryEventsService {
  /** @throws InvalidRequest when `q` has too many words */
  list(caller: Caller, { eventUrl, q, ...page }: IndustryEventsQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, industryEventId: string): Promise<JsonText>;
  /**
   * If a record with the same eventUrl exists, it is returned unchanged and nothing is locked. The unique index ensures that only
   * one of several concurrent requests creates the record: the others wait for its commit and then find it.
   * Potential duplicates are searched before the insert, because rendering them takes long. Two records that are created at the
   * same time therefore do not list each other.
   */
  create(caller: Caller, input: IndustryEventCreateV0Input): Promise<string[]>;
  /**
   * Changes the fields that the input has; null clears.
   * @throws RowNotFound
   * @throws InvalidField when the end would come before the start, or another record has the eventUrl
   */
  update(caller: Caller, industryEventId: string, input: IndustryEventUpdateV0Input): Promise<JsonText>;
  listBookmarked(caller: Caller): Promise<JsonText[]>;
  /** @throws RowNotFound */
  addBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult>;
  /** @throws RowNotFound */
  removeBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult>;
}

/** An integer within int32, not negative unless `min` says so. */
export declare function Int32({
  min,
  max,
  ...options
}?: FieldOptions<{
  min?: number;
  max?: number;
}>): PropertyDecorator;

/** A field of the body is missing or invalid. The message names it by its path, such as `phoneNumbers[0].type`. */
export declare class InvalidField extends InvalidRequest {
  constructor(path: string, reason?: FaultReason, { fault, detail }?: Partial<Fault>);
}

/** A part of the request is missing or invalid. The text of the response is the message, by default `Bad Request`. */
export declare class InvalidRequest extends BadRequestException implements Fault {
  readonly fault: string;
  readonly reason: FaultReason;
  readonly detail?: string;
  constructor(
    fault: string,
    reason?: FaultReason,
    {
      message,
      detail,
    }?: {
      message?: string;
      detail?: string;
    },
  );
}

/** Any JSON value, of a `jsonb` column. */
export declare const JsonField: (options?: FieldOptions) => PropertyDecorator;

/**
 * One JSON value as text. PostgreSQL renders it, and a response has it unchanged; within an object, it is sent as its value.
 *
 * @example
 * ```ts
 * const lead = JSON.parse(await this.leads.get(caller, id)) as { firstName: string };
 * ```
 */
export declare class JsonText {
  readonly text: string;
  constructor(text: string);
  toString(): string;
  /** The value. */
  toJSON(): unknown;
}

export declare class LeadActivityEventsModule {}

export declare class LeadActivityEventsService {
  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, leadActivityEventId: string): Promise<JsonText>;
}

export declare class LeadsModule {}

export declare class LeadsService {
  /**
   * @throws InvalidRequest when only one of `remoteId` and `integrationType` is given, or a word of `q` is too short
   * @throws RowNotFound when the event is not the organization's
   */
  list(caller: Caller, { limit, offset, ...query }: LeadsQuery): Promise<Page>;
  /** @throws RowNotFound */
  listEvents(caller: Caller, leadId: string, page: PageQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, leadId: string): Promise<JsonText>;
  create(caller: Caller, input: LeadCreateV0Input): Promise<JsonText>;
  /** @throws RowNotFound */
  patch(caller: Caller, leadId: string, input: LeadPatchV0Input): Promise<JsonText>;
  /**
   * Updates the lead that an entry matches, or creates one. Entries that match one lead by different remote ids count as
   * one, in which the later field wins.
   * @returns the JSON texts of the outcomes in the order of the entries
   * @throws InvalidField when two entries have the same value, or one that creates lacks a field
   */
  upsert(caller: Caller, batch: LeadBatchV0Input): Promise<JsonText[]>;
  /** @throws RowNotFound */
  delete(caller: Caller, leadId: string): Promise<void>;
}

/**
 * An array of objects of one class, whose fields the decorators of this file declare. Which class may depend on the object
 * that holds the array.
 */
export declare function ListOf(
  type: (parent?: object) => Class,
  { min, max, distinct, ...options }?: ListOptions,
): PropertyDecorator;

/** An entity whose rows form a list. Its triggers, totals, pages and consistency check are derived from this decorator. */
export declare const ListedEntity: (table: string, { parent, isShared }?: ListOptions2) => ClassDecorator;

/** The columns of a row of an organization's list. */
export declare abstract class ListedRow {
  organizationId: number;
  position: string;
  createdAt: Date;
}

/** The columns of a listed row whose ID is a UUID. */
export declare abstract class ListedUuidRow extends ListedRow {
  id: string;
}

/** Maximum characters of a string, by what it holds. */
export declare const MAX_LENGTH: {
  readonly name: 255;
  readonly url: 2048;
  readonly prose: 65535;
};

/** A text, or null. */
export declare const NULLABLE_TEXT: ColumnOptions;

/** A date and time with milliseconds, or null. */
export declare const NULLABLE_TIMESTAMP: ColumnOptions;

/** The id of an event or a user: an integer from 1 to 2^53 - 1. */
export declare const NumericId: (options?: FieldOptions) => PropertyDecorator;

/** The id of an event in the path: a positive safe integer in decimal digits, else 400. */
export declare const NumericIdParam: (name: string, example?: number) => ParameterDecorator;

/** One object of a class, whose fields the decorators of this file declare. */
export declare function ObjectOf(type: () => Class, options?: FieldOptions): PropertyDecorator;

/**
 * Calls a method of a provider for the changes of every organization, at least once and in order, whatever way a change was made:
 * by a request, an import or SQL. When the method throws it is called again with the same page or a longer one, later each time.
 *
 * @example
 * ```ts
 * @OnChanges({ name: 'crm', resources: ['leads'], start: 'now' })
 * async sendLeads(organizationId: number, changes: Change[]): Promise<void> { … }
 * ```
 */
export declare const OnChanges: (
  subscription: ChangesSubscription,
) => <Handler extends ChangesHandler>(
  _target: object,
  _method: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

/** One of the values of an enumeration, which the API reference lists under its name. */
export declare function OneOf(values: readonly string[], name: string, options?: FieldOptions): PropertyDecorator;

/**
 * The rows of an entity that belong to the caller's organization. Rows of other organizations are neither found nor changed,
 * whatever the conditions say. Tables that a query joins are not looked at: let their foreign keys lead with
 * `organization_id`.
 */
export declare class OrganizationRepository<T extends Owned> {
  find(options?: FindManyOptions<T>): Promise<T[]>;
  findBy(where: Where<T>): Promise<T[]>;
  /** The rows of a page, and the number of rows on all pages. */
  findAndCount(options?: FindManyOptions<T>): Promise<[T[], number]>;
  findOne(options: FindOneOptions<T>): Promise<T | null>;
  findOneBy(where: Where<T>): Promise<T | null>;
  /** @throws RowNotFound which is sent as 404 */
  findOneOrFail(options: FindOneOptions<T>): Promise<T>;
  /** @throws RowNotFound which is sent as 404 */
  findOneByOrFail(where: Where<T>): Promise<T>;
  count(options?: FindManyOptions<T>): Promise<number>;
  countBy(where: Where<T>): Promise<number>;
  existsBy(where: Where<T>): Promise<boolean>;
  /** An instance of the entity that is not stored yet. */
  create(values?: Values<T>): T;
  /** @throws Error as `save` does */
  insert(values: Values<T> | Values<T>[]): Promise<InsertResult>;
  /**
   * Stores a row: updates the one with its primary key, if the organization has it, and inserts it otherwise. In a relation it
   * may have the primary key of a row that it refers to.
   * @throws RowNotFound when another organization has a row with this primary key
   * @throws Error when a relation has anything else, which would not be stored
   */
  save<V extends Values<T>>(values: V): Promise<V & T>;
  /** @throws Error when the condition is empty or one of its values is undefined: it would match every row of the organization */
  update(where: FindOptionsWhere<T>, changes: Values<T>): Promise<UpdateResult>;
  /** @throws Error when the condition is empty or one of its values is undefined: it would match every row of the organization */
  delete(where: FindOptionsWhere<T>): Promise<DeleteResult>;
  /** Sets the `@DeleteDateColumn` of rows, which are no longer found then. @throws as `delete` does */
  softDelete(where: FindOptionsWhere<T>): Promise<UpdateResult>;
  /** Clears the `@DeleteDateColumn` of rows. @throws as `delete` does */
  restore(where: FindOptionsWhere<T>): Promise<UpdateResult>;
}

/**
 * One page of a list.
 *
 * @example
 * ```ts
 * return new Page({ limit, offset, items, total });
 * ```
 */
export declare class Page implements PageFields {
  readonly limit: number;
  readonly offset: number;
  readonly items: (JsonText | object)[];
  readonly total: number;
  constructor({ limit, offset, items, total }: PageFields);
}

/** What a page of a list consists of. */
export interface PageFields {
  /** The number of items per page. */
  limit: number;
  /** The zero-based index of the page. */
  offset: number;
  /** JSON texts, or plain objects. */
  items: (JsonText | object)[];
  /** The number of records that match the query. */
  total: number;
}

/** The query parameters of every list; the query of a list extends it. A parameter that is sent twice is an array here. */
export declare class PageQuery {
  /** The number of items per page. */
  limit: number;
  /** The zero-based index of the page, not of its first item: a repository needs `skip: limit * offset`. */
  offset: number;
}

/**
 * A list that `Statements.paginate` reads. Its statements select one row for each item of the page: the JSON text and the
 * total. An empty page is one row without a text. If the parent of the list does not exist, there is no row.
 */
export interface PagedList {
  /** The unique name that its prepared statements are named after. */
  name: string;
  /** Whether all organizations share the list. Then `$1` is the first value, and not the organization. */
  isShared?: boolean;
  /** The number of values that the list is read with. The parameters of the page follow them. */
  valueCount: number;
  /** The statement of any page. */
  text: string;
  /** A simpler statement of the first page, if there is one. It has no parameter for the index. */
  firstPageText?: string;
}

/**
 * A handler or a controller whose responses are sent as Nest sends them: without the envelope, with 201 for a POST. Key,
 * tokens, bodies and errors are those of every route. It cannot be called with an Idempotency-Key.
 *
 * @example
 * ```ts
 * @Plain()
 * @Get('halls.geojson')
 * geoJson() {
 *   return { type: 'FeatureCollection', features: [] };
 * }
 * ```
 */
export declare const Plain: () => ClassDecorator & MethodDecorator;

/** A date-time in UTC, cut to microseconds: PostgreSQL would round it, even out of the year 9999. */
export declare const PreciseDateTime: (options?: FieldOptions) => PropertyDecorator;

/**
 * A route that needs no API key and takes no token. On a gateway, on a resolver, or on the module that has them or imports
 * `GraphQLModule`, it says that you check by yourself who calls: Lanyard checks requests of its HTTP routes only.
 */
export declare const Public: () => ClassDecorator & MethodDecorator;

/** An optional query parameter with one of some values. For a required one, use `OneOf`. */
export declare const QueryOneOf: (values: readonly string[], name: string, description: string) => PropertyDecorator;

/** An optional query parameter with text. For a required one, use `Text`. */
export declare const QueryText: (
  description: string,
  limits?: {
    max?: number;
    blank?: boolean;
  },
) => PropertyDecorator;

/** An optional query parameter with a uuid. For a required one, use `Uuid`. */
export declare const QueryUuid: (description: string) => PropertyDecorator;

/**
 * A foreign key to a row of the same organization, or to the organization itself.
 * @param entity the name of the class, such as `EventEntity` or, for the organization, `OrganizationEntity`
 */
export declare const RefersTo: (entity: string, property: string, name: string, onDelete?: OnDelete) => ClassDecorator;

/**
 * SQL of each field of a response class. The compiler rejects a field without SQL and SQL without a field, so that a class
 * and the JSON that PostgreSQL renders for it always agree.
 */
export type Rendering<T> = {
  readonly [Field in keyof Required<T>]: string;
};

/**
 * `results` is one resource, or an object that holds it under `key`. The handler returns it as JSON text, in parts where it
 * may be long, or as an object.
 * @param description what a success says
 */
export declare const Returns: <T extends object>(
  model: Type<T>,
  description: string,
  key?: string,
) => Answers<JsonText | string[] | T>;

/** `results.<key>` is an array, without pagination. The handler returns its items, or the array as JSON text. */
export declare const ReturnsList: (
  key: string,
  model: Type,
  description: string,
  max?: number,
) => Answers<JsonText | (JsonText | object)[]>;

/** `results` is an empty object. */
export declare const ReturnsNothing: (description: string) => Answers<void>;

/**
 * `results.<key>` is a page of a list, with `results.total` and `pagination`.
 * @param name tells the page from that of another list with the same key
 */
export declare const ReturnsPage: (key: string, model: Type, name?: string) => Answers<PageFields>;

/** The row does not exist, or it belongs to another organization. */
export declare class RowNotFound extends Error {
  readonly fault?: string | undefined;
  readonly reason = 'not-found';
  /** @param fault names the part that refers to the row. By default it is the last parameter of the path. */
  constructor(fault?: string | undefined);
}

export type Scope = (typeof KEY_SCOPES)[number];

/** Adds scopes to those that may call a handler by default: `all`, and for GET and HEAD also `read`. */
export declare const Scopes: (...scopes: Scope[]) => MethodDecorator & ClassDecorator;

/** A prepared statement. */
export interface Statement {
  /** The unique name of the prepared statement. */
  name: string;
  /** SQL with `$n` parameters. The first column of its rows is JSON text; most statements have no other column. */
  text: string;
  /** Whether it belongs to no organization, like those of the catalog. Then `$1` is the first value. */
  isShared?: boolean;
}

/**
 * Prepared statements: one round trip and no planning each. They run on the connection of the transaction that they are
 * called in, or else on one of the pool. `$1` is the organization of the caller, unless the statement is shared, and the values
 * follow. PostgreSQL rejects a statement that does not use all of its parameters, so no statement can forget the organization.
 */
export declare class Statements {
  /** The JSON text of a statement's one row. @throws RowNotFound */
  selectOne(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText>;
  /**
   * The JSON texts of a statement's rows.
   * @param actor who writes, if it is not the caller alone
   */
  selectJson(caller: Caller, statement: Statement, values: unknown[], actor?: string): Promise<JsonText[]>;
  /** The rows of a statement with several columns. */
  selectRows<R extends unknown[]>(caller: Caller, statement: Statement, values: unknown[]): Promise<R[]>;
  /** The number of rows that a statement has changed or deleted. */
  execute(caller: Caller, statement: Statement, values: unknown[]): Promise<number>;
  /**
   * A page of a list.
   * @param listValues the values that the list is asked with
   * @throws RowNotFound when what the list belongs to does not exist
   */
  paginate(
    caller: Caller,
    list: PagedList,
    listValues: unknown[],
    { limit, offset }: Pick<Page, 'limit' | 'offset'>,
  ): Promise<Page>;
}

/** A date and time with milliseconds. The default is the current time; an import may provide another one. */
export declare const TIMESTAMP: ColumnOptions;

/** The chapter of a controller; others whose operations stand there too take its name alone, with `@ApiTags`. */
export declare const Tag: (name: string, description: string) => ClassDecorator;

export declare class TagGroupsModule {}

export declare class TagGroupsService {
  list(caller: Caller, page: PageQuery): Promise<Page>;
  /** @throws RowNotFound */
  get(caller: Caller, tagGroupId: string): Promise<JsonText>;
}

/** Text of at most `max` characters. A required one must not be blank; an optional one only with `blank: false`. */
export declare function Text({
  max,
  blank,
  ...options
}?: FieldOptions<{
  max?: number;
  blank?: boolean;
}>): PropertyDecorator;

/** An array of strings of at most 255 characters. An invalid entry makes the array invalid: entries are not fields. */
export declare const TextList: ({ max, ...options }?: ListOptions) => PropertyDecorator;

/** A time of day, HH:MM:SS. */
export declare const TimeOfDay: (options?: FieldOptions) => PropertyDecorator;

/**
 * The one way in which statements and repositories find what they were not given: whatever runs within `runOn` uses the
 * connection of its manager, and repositories wait for a connection in the queue of the request's organization and write in
 * the name of its key (docs/decisions/0024). The context holds no more than that, because whatever a request leaves behind keeps it.
 */
export declare class Transactions {
  /**
   * Runs work on the connection of a manager. All services and repositories that it calls use that connection. Only a query
   * runner that you opened yourself needs it: `transaction` of a data source, a manager and `Writes` do the same.
   *
   * @example
   * ```ts
   * await runner.startTransaction();
   * await this.transactions.runOn(runner.manager, () => this.leads.patch(caller, id, { jobTitle }));
   * await runner.commitTransaction();
   * ```
   */
  runOn<T>(manager: EntityManager, work: () => Promise<T>, settings?: ConnectionSettings): Promise<T>;
  /** Runs work in one transaction, in which all services that it calls take part. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs work when the transaction of the request has been committed, or immediately if there is none. Work runs at most once:
   * it does not run if the transaction is rolled back, as in a dry run, or if the process ends first. The request does not wait
   * for it, and its errors are logged. What must never be missed belongs in a method with `@OnChanges`.
   *
   * @example
   * ```ts
   * const hall = await this.halls.save(input);
   * this.transactions.afterCommit(() => this.mails.send(hall));
   * ```
   */
  afterCommit(work: () => unknown): void;
}

/** A uuid, converted to lower case as PostgreSQL shows it. */
export declare const Uuid: (options?: FieldOptions) => PropertyDecorator;

export declare const UuidList: ({ max, distinct, ...options }?: ListOptions) => PropertyDecorator;

/** The id of a resource in the path: a uuid in any letter case, else 400. */
export declare const UuidParam: (name: string, example?: string) => ParameterDecorator;

/** Adds SQL functions and triggers to an entity. The triggers may be on other tables. */
export declare const WithFunctions: (text: string) => ClassDecorator;

/**
 * Adds SQL functions that indexes or column defaults of an entity use. They are applied before the migrations, which need them,
 * and therefore must not refer to any table.
 */
export declare const WithIndexFunctions: (text: string) => ClassDecorator;

/** Runs the writes of requests in the request's transaction, if it has one, and retries them after a deadlock. */
export declare class Writes implements BeforeApplicationShutdown {
  /** The number of requests that wait for a connection. */
  get waitingRequests(): number;
  /** Runs a write of one statement. @returns the JSON text of its one row @throws RowNotFound */
  write(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText>;
  /** Runs a write of one statement. @returns the JSON text of its row, or undefined when it has none */
  writeIfAny(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText | undefined>;
  /** Runs a write of one statement. @returns the number of rows that it changed or deleted */
  writeAndCount(caller: Caller, statement: Statement, values: unknown[]): Promise<number>;
  /** Deletes one row, which may cascade to a million rows. @throws RowNotFound */
  deleteLong(caller: Caller, statement: Statement, values: unknown[]): Promise<void>;
  /**
   * Runs a write whose concurrent inputs of one organization are batched into one statement. Its `$2` is a JSON array of
   * inputs, and it returns a row for each of them, in the same order. It inserts at most one row for each, at ascending
   * positions of its list, by which the audit log knows whose key created which row.
   */
  writeBatched(caller: Caller, statement: Statement, input: object): Promise<JsonText>;
  /**
   * Runs work in a transaction, in which all services that it calls take part. After a deadlock or a similar error, work runs
   * again; within an outer transaction, such as that of a dry run, the outer one runs again.
   * @param mayTakeLong Whether work may cascade to a million rows. If it is canceled after the time of a statement, it then runs
   * once more with a longer one.
   */
  transaction<T>(caller: Caller, work: Work<T>, mayTakeLong?: boolean): Promise<T>;
  /** Cancels long writes, because a server has only ten seconds to stop. PostgreSQL rolls them back. */
  beforeApplicationShutdown(): void;
}

/** A list in order of arrival. Its total and its pages are found without counting rows (docs/decisions/0007). */
export declare function arrivalList({ entity, rowJson, parentExists }: ArrivalListOptions): PagedList;

/**
 * The data source that TypeORM's command line takes, as in `typeorm -d dist/data-source.js migration:generate`. It names the
 * database of the settings: DATABASE_URL or, without it, the embedded PostgreSQL, which it starts.
 */
export declare function dataSource({ migrations }?: Extension): Promise<DataSource>;

/** Declares a dataset. It does not compile if a field of the record is stored nowhere; the compiler names the field. */
export declare const datasetOf: <
  R extends object,
  E extends object,
  const D extends Omit<Dataset, 'record' | 'entity'>,
>(
  record: Class<R>,
  entity: Class<E>,
  rest: D & {
    notExported?: readonly (keyof E)[];
  } & ([Unstored<R, E, D>] extends [never]
      ? unknown
      : {
          notStored: Unstored<R, E, D>;
        }),
) => Dataset;

/**
 * The column of a `@Decimal` field with the same precision and scale. Up to a precision of 15, the property is a number; the
 * driver reads all numeric values as texts.
 */
export declare const decimalColumn: (options: DecimalColumn) => ColumnOptions;

/** Returns the extension as it is; TypeScript checks its shape and completes its keys. */
export declare const defineExtension: (extension: Extension) => Extension;

/** A resource of the feed whose rows are those of an entity. @throws Error unless it is a `@ListedEntity` */
export declare const feedResource: (
  entity: new () => object,
  resource: Omit<FeedResource, keyof TrackedList>,
) => FeedResource;

/**
 * The rows of a table that meet a condition, in order of arrival. They are counted: a million take 0.1 s. The rows of
 * several parents are ordered by parent first, because each parent has positions of its own.
 */
export declare function filteredList(options: FilteredListOptions): PagedList;

/** SQL of the JSON text of a row. */
export declare const json: <T>(fields: Rendering<T>) => string;

/** SQL of an array of objects. @param source what follows `from`, with its order */
export declare const jsonList: <T>(fields: Rendering<T>, source: string) => string;

/** SQL of an object inside another one. */
export declare const jsonObject: <T>(fields: Rendering<T>) => string;

/** A field of CSV that refers to a lead: by its ID, or by the `ref` by which imports know it. An export has the ID. */
export declare const leadReference: (name: string) => CsvField;

export declare const nullable: {
  readonly nullable: true;
};

/**
 * The kinds of field of bodies, queries, dataset records and responses. One decorator gives both the check and the
 * description (`field-rules.ts`).
 *
 * Examples of bodies and responses are built from those of their fields: a nullable field without one is null there, and
 * an optional field without one is left out.
 */
export declare const optional: {
  readonly optional: true;
};

export declare const optionalNullable: {
  readonly nullable: true;
  readonly optional: true;
};

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
export declare const repositoryFor: <T extends Owned>(
  caller: Caller,
  repository: Repository<T>,
) => OrganizationRepository<T>;

/**
 * Runs Lanyard by the arguments of the process: the server without arguments or with `start`, and any command of the
 * operator. The process ends with it.
 * @param extension what a project of its own adds; its `main.ts` has nothing else to call
 */
export declare function run(extension?: Extension): Promise<void>;

/** The key of a record whose id is a uuid. */
export declare const uuidKey: (example: string) => FeedResource['key'];

/** A section that can be read and written as CSV, too. */
export declare function withCsv(dataset: Dataset, csv?: CsvDefinition): CsvDataset;

// Not exported, but named above.

/** Of a handler that gives what the envelope takes. */
type Answers<Result> = <Given extends (...args: never[]) => Promise<Result>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Given>,
) => void;

interface ArrivalListOptions {
  entity: new () => object;
  /** SQL of an item's JSON text. It refers to the row by the name of the table. */
  rowJson: string;
  /** For a list that each parent has: a select that returns a row if the parent exists, whose ID is `$2` in `arrivalList`. */
  parentExists?: string;
}

declare class BookmarkResult {
  success: boolean;
}

/** The context in which the cells of a column are parsed. */
interface CellContext {
  organizationId: number;
  /** The name of the column; empty if the value comes from an option of the command. */
  column: string;
  /** The format of the column, if the mapping names one of the field's formats. */
  format?: string;
  dateTimes: DateTimeOptions;
  lookup?: Lookup;
  /** Where the IDs of the file come from, if an option says so. */
  source?: string;
}

declare const ChangeOperation: readonly ['snapshot', 'created', 'updated', 'deleted'];
type ChangeOperation = (typeof ChangeOperation)[number];

/** A page of the feed. */
interface ChangesPage extends PageContent {
  phase: ChangesPhase;
  cursor: string;
}

declare const ChangesPhase: readonly ['snapshot', 'changes'];
type ChangesPhase = (typeof ChangesPhase)[number];

declare class ChangesQuery {
  cursor?: string;
  since?: 'now';
  /** The service checks the names, because it knows the resources of this server. */
  resources?: string[];
  limit: number;
}

type Class<T extends object = object> = new () => T;

/** A check of one column of the staged rows. */
interface ColumnCheck {
  column: string;
  /** SQL, to be used after `from`, that gives the staged rows with an invalid value. */
  findViolations: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string) => string;
  /** What a valid value is. */
  expected: string;
}

/** A field that no column stores. */
interface ComputedField {
  /** The SQL type of its staged value. */
  type: string;
  /** SQL of its value for a stored row. `$1` is the organization's id. */
  select: (row: string) => string;
}

/** How statements run on a connection that was handed to them. */
interface ConnectionSettings {
  /** Timeout of each statement in milliseconds, instead of the pool's. */
  timeoutMs?: number;
  /** Whether large results do not slow down the requests of the organization, because only one connection receives them. */
  isBackground?: boolean;
}

/** Creates the records that cells refer to and that do not exist yet, in a group with a name. */
type CreateReferences = (
  manager: EntityManager,
  organizationId: number,
  groupName: string,
  missing: {
    id: string;
    text: string;
  }[],
) => Promise<void>;

declare class CreationFields {
  createdByEmail?: string | null;
  firstName?: string | null;
  lastName?: string | null;
  companyName?: string | null;
}

/** A dataset that can be read and written as CSV. */
interface CsvDataset extends Dataset {
  csv: CsvDefinition;
}

/** What a section supports as CSV, in addition to the fields of its record. */
interface CsvDefinition {
  /** Fields that replace those of the record with the same name, and further ones. */
  fields: CsvField[];
  /** Generates the key of a record that has none; by default a UUID, if the key is one and the organization's own. */
  generateId?: () => string;
  /** The values that `--match` can match rows by, in addition to the key. */
  matches?: Record<string, CsvMatch>;
  /** The field of IDs that another program or a person has assigned, and a check of the rows that have one. */
  ref?: {
    field: string;
    check: (providesField: (path: string) => boolean) => RowCheck;
  };
  /** Completes a record when all its cells have been read. */
  complete?: (record: RecordDraft) => void;
  /** Whether a record tells who or what it is; by default each one does. */
  isIdentified?: (record: RecordDraft) => boolean;
  /** What nearly every record has. A proposal warns of a file in which most have not. */
  usual?: {
    noun: string;
    has: (record: RecordDraft) => boolean;
  };
  /** The key of `matches` by which two rows are most likely about the same one. */
  personMatch?: string;
  /** The first words of columns that are about somebody else, such as `Buyer`, and those that change nothing. */
  prefixes?: {
    other: string[];
    same: string[];
  };
  /** Corrects the fields that are proposed for columns one by one, where one depends on the others. */
  refineProposal?: (columns: ProposedColumn[]) => (string | null)[];
}

/** A field of a record as a column of CSV. */
interface CsvField {
  name: string;
  /** The paths in the record that it fills; by default its name. */
  paths?: string[];
  /** SQL of the new value of a column that the field fills only in part, so that the other parts keep their stored values. */
  mergeSql?: (stored: string, imported: string, path: string, keepsEmpty: boolean) => string;
  /** Whether values of several columns are added up. */
  isList?: boolean;
  /** The fields of the entries of a list that it fills, by the name of the list. */
  entryFields?: Record<string, string[]>;
  /** Whether a proposal reads its cells before it says what they are. */
  isProbed?: boolean;
  /** Whether only a column of exactly this name is proposed for it. */
  isExactName?: boolean;
  /** Whether it is read before the fields that lack this flag. */
  isReadFirst?: boolean;
  /** The formats that a mapping may name for its column. */
  formats?: readonly string[];
  /** What its values look like, if anybody can see it. */
  kind?: ValueKind;
  /** The records that the cells refer to. */
  references?: ReferencedRecords;
  /**
   * Parses a cell into a record, which is checked afterwards.
   * @throws CsvValueError
   */
  parseInto(draft: RecordDraft, cell: string, context: CellContext): void;
  /** The cell of a record. It is undefined for a field that can only be imported, because another one exports its value. */
  format?(record: RecordDraft, lookup?: Lookup): string;
  /** Whether an export has the column only if `--map` names it. */
  isOptional?: boolean;
  /** SQL that selects rows of organization `$1` in which the field has a value. An export without any leaves the column out. */
  isPresentSql?: string;
}

/** How to match a row with a stored record by the value of a column. */
interface CsvMatch extends RecordMatch {
  /** The names of fields that hold the value. The file must have a column of one of them, and not of two. */
  fieldNames: RegExp;
  /** A noun with its article for what such a column holds, for messages. */
  noun: string;
  /** Whether a record has the value. */
  hasKey: (record: RecordDraft) => boolean;
}

/** The orders of day, month and year in dates such as 5/4/2026: it is April 5 as DMY, and May 4 as MDY. */
declare const DATE_FORMATS: readonly ['DMY', 'MDY', 'YMD'];

declare class DateFields {
  startDate?: string | null;
  endDate?: string | null;
}

type DateFormat = (typeof DATE_FORMATS)[number];

interface DateTimeOptions {
  /** The time zone of date-times that name none; UTC if undefined. */
  timeZone?: string;
  /** By default, dates are written as in ISO 8601. */
  dateFormat?: DateFormat;
  /** Whether to read days without a time alone. */
  daysOnly?: boolean;
  /** Called for a time that the clocks of the zone show twice, with the offset that is taken, such as `+02:00`. */
  onRepeatedHour?: (value: string, offset: string) => void;
}

type DecimalColumn = Required<Pick<ColumnOptions, 'precision' | 'scale'>> & Pick<ColumnOptions, 'nullable' | 'default'>;

type DecimalOptions = FieldOptions<{
  /** The number of all digits, as in the column `numeric(precision, scale)`. Without it, any finite number is valid. */
  precision?: number;
  /** The number of digits after the point. */
  scale?: number;
  /** The lowest and the highest value, for a precision of at most 15. */
  min?: number;
  max?: number;
}>;

declare class EventAddLeadsV0Input {
  eventLeads: EventLeadInput[];
}

declare class EventCreateV0Input {
  eventName: string;
  eventType: EventType;
  startDate: string;
  endDate: string;
  createdByEmail: string;
  registrationEnabled?: boolean;
}

declare class EventLeadInput {
  leadId: string;
  registered?: boolean;
  checkedIn?: boolean;
}

declare const EventType: readonly [
  'CONFERENCE',
  'TRADE_SHOW',
  'EVENT',
  'SIDECAR',
  'DINNER_MEAL',
  'HAPPY_HOUR',
  'OTHER',
];
type EventType = (typeof EventType)[number];

declare class EventUpdateV0Input extends EventUpdateV0Input_base {}

declare const EventUpdateV0Input_base: import('@nestjs/common', { with: { 'resolution-mode': 'import' } }).Type<
  Omit<EventCreateV0Input, 'createdByEmail'>
>;

/** Why a part of a request was rejected. These are the words of `Lanyard-Fault-Reason`, each with its meaning. */
declare const FAULT_REASONS: {
  readonly missing: 'A required value is absent, null or blank.';
  readonly type: 'The value has another JSON type.';
  readonly range: 'The value is out of bounds: a number, a length, a count of entries, or an end before its start.';
  readonly format: 'The value does not have the required form, or is not one of the allowed values.';
  readonly unknown: 'No such parameter, field or preference exists. Only strict requests are rejected for it.';
  readonly duplicate: 'The value occurs more than once, or another record already has it.';
  readonly conflict: 'The part cannot be combined with another part of the request.';
  readonly unsupported: 'The server cannot process it: the content type, the encoding, or a header that has no effect here.';
  readonly syntax: 'The text is not well-formed.';
  readonly 'not-found': 'No such path or record exists, or the record belongs to another organization.';
  readonly rejected: 'The API key is unknown, revoked, expired, or sent twice.';
  readonly scope: 'The API key is valid, and its scope does not allow the request. The detail names the scopes that do.';
};

/** The part of a request for which it was rejected. None of its texts holds a value, which may be personal data. */
interface Fault {
  /** Names the part for the log and for `Lanyard-Fault`: `query limit`, `path leadId`, `header Host`, `body`. */
  readonly fault: string;
  readonly reason: FaultReason;
  /** Where to look: `repeats leads[0].email` or `needs all`. */
  readonly detail?: string;
}

type FaultReason = keyof typeof FAULT_REASONS;

/** The resources of this server's feed, from all contexts. */
declare class FeedResources {
  /** The resources in the order in which a snapshot emits them. */
  readonly all: readonly FeedResource[];
  readonly names: readonly string[];
  readonly numbers: readonly number[];
  readonly byNumber: ReadonlyMap<number, FeedResource>;
  /** @throws Error when two resources have the same number or the same name */
  constructor(resources: readonly FeedResource[]);
  /** Whether there is a resource of each name, and no name occurs twice. */
  hasNames(names: readonly string[]): boolean;
  /** The numbers of the named resources, in the order of a snapshot. */
  numbersOf(names: readonly string[]): number[];
}

type FieldOptions<Own = object> = Presence &
  Own & {
    description?: string;
    example?: unknown;
  };

interface FilteredListOptions extends ArrivalListOptions, Pick<PagedList, 'name' | 'valueCount'> {
  /** The condition, with `$n` parameters. */
  where: string;
}

type FirstSegments<Values> =
  Values extends Record<string, infer Path> ? (Path extends `${infer First}.${string}` ? First : Path) : never;

declare class IndustryEventCreateV0Input extends IndustryEventFields {
  name: string;
}

/** Every field but the name. All are optional, and null clears them. */
declare class IndustryEventFields extends IndustryEventFields_base {}

declare const IndustryEventFields_base: import('@nestjs/common', { with: { 'resolution-mode': 'import' } }).Type<
  {
    sourceType?: string | null;
    sourceId?: string | null;
    eventType?: string | null;
    venueCity?: string | null;
    venueState?: string | null;
    venueCountry?: string | null;
    venueName?: string | null;
    venueFullAddress?: string | null;
    venueCoordinates?: string | null;
    numberOfAttendees?: number | null;
    numberOfExhibitors?: number | null;
    attendeeCost?: string | null;
    boothCost?: string | null;
    exhibitorIndustries?: string[] | null;
    attendeePersonas?: string[] | null;
    keywords?: string[] | null;
    website?: string | null;
    description?: string | null;
  } & DateFields &
    UrlField
>;

declare class IndustryEventUpdateV0Input extends IndustryEventFields {
  name?: string;
}

declare class IndustryEventsQuery extends PageQuery {
  eventUrl?: string;
  q?: string;
}

declare const IntegrationType: readonly [
  'WEBHOOK',
  'MARKETO',
  'HUB_SPOT',
  'ZOHO',
  'SALES_FORCE',
  'PIPE_DRIVE',
  'ELOQUA',
  'PARDOT',
];
type IntegrationType = (typeof IntegrationType)[number];

/** What requests with a key may do: everything, read, or what an app at a booth needs. */
declare const KEY_SCOPES: readonly ['all', 'read', 'capture'];

/** A field that names the changed record, and the column that holds it. */
interface KeyField {
  /** The name of the field in a change, such as `eventId`. */
  name: string;
  column: string;
  /** A decorator of `fields/fields.ts`, for the API reference. */
  decorator: PropertyDecorator;
}

type Keys<Values> = Values extends object ? keyof Values : never;

/** The newest change that was emitted. If a database lacks it, the database was restored from an older state. */
type LastEmitted = [resource: number, xid: number, seq: number, at: string];

declare const LeadActivityEventType: readonly [
  'NOTE',
  'FACEBOOK',
  'LINKEDIN',
  'TWITTER',
  'CALENDAR',
  'PHONE',
  'EMAIL',
  'SMS',
  'CAMPAIGN_ASSOCIATION',
  'CSV_UPLOAD',
  'SERVICE_API',
  'EMAIL_CONTENT',
  'SMS_CONTENT',
  'OTHER_CONTENT',
];
type LeadActivityEventType = (typeof LeadActivityEventType)[number];

declare class LeadActivityEventsQuery extends PageQuery {
  leadId?: string;
  eventType?: LeadActivityEventType;
}

declare class LeadBatchV0Input {
  matchBy: MatchBy;
  leads: LeadUpsertV0Input[];
}

declare class LeadCreateV0Input {
  createdByEmail: string;
  firstName: string;
  lastName: string;
  companyName: string;
  email?: string;
  phoneNumbers?: PhoneNumber[];
}

declare class LeadPatchV0Input {
  firstName?: string | null;
  lastName?: string | null;
  email?: string | null;
  address?: string | null;
  linkedin?: string | null;
  facebook?: string | null;
  twitter?: string | null;
  profilePicture?: string | null;
  description?: string | null;
  jobTitle?: string | null;
  phoneNumbers?: PhoneNumber[] | null;
  remoteId?: RemoteIdInput;
}

declare class LeadUpsertV0Input extends LeadUpsertV0Input_base {}

declare const LeadUpsertV0Input_base: import('@nestjs/common', { with: { 'resolution-mode': 'import' } }).Type<
  CreationFields & Omit<LeadPatchV0Input, 'firstName' | 'lastName'>
>;

declare class LeadsQuery extends PageQuery {
  email?: string;
  remoteId?: string;
  integrationType?: IntegrationType;
  q?: string;
  hasEmail?: boolean;
  createdSince?: string;
  eventId?: number;
}

type ListOptions = FieldOptions<{
  min?: number;
  max?: number;
  /** Entries differ: as texts, or in a field. The second of two alike is invalid. */
  distinct?: string | true;
}>;

interface ListOptions2 {
  parent?: ListParent;
  /** Whether all organizations share the list. */
  isShared?: boolean;
}

/** The parent of a list that exists once for each parent, as each event has a list of leads. */
interface ListParent {
  /** The table of the parents, whose primary key is `id`. */
  table: string;
  /** The property, and so the column, that holds the parent's ID. */
  property: string;
  type: 'bigint' | 'integer' | 'uuid';
}

/** As of when the log was read. */
interface LogMoment {
  generation: string;
  /** The snapshot of PostgreSQL under which it was read. */
  snapshot: string;
}

/** The records that an organization has when a file is imported or exported, by the texts by which they are known. */
declare class Lookup {
  /** The records to create. */
  readonly missing: {
    id: string;
    text: string;
  }[];
  /** @param mayCreate whether to create a record for a text by which none is known */
  static load(
    manager: EntityManager,
    organizationId: number,
    { sql, isExact }: ReferencedRecords,
    mayCreate?: boolean,
  ): Promise<Lookup>;
  /** The value for a text; null if several records are known by it, undefined if none is. */
  find: (text: string) => string | null | undefined;
  /** The id of a record that is to be created for a text; undefined if none may be, or if several are known by it. */
  create(text: string): string | undefined;
  /** The name by which people know a value, if it can be read back; the value itself otherwise. */
  nameOf(value: string): string;
}

/** How the entries of a batch find the leads that they update. */
declare const MatchBy: readonly ['email', 'remoteId', 'none'];
type MatchBy = (typeof MatchBy)[number];

type Names<Values> = Values extends readonly {
  name: infer Name;
}[]
  ? Name
  : never;

/** Not before the day or date-time in another field of the same object. */
type NotBefore = FieldOptions<{
  notBefore?: string;
}>;

type OnDelete = 'CASCADE' | 'SET NULL' | 'RESTRICT' | 'NO ACTION';

/** An entity whose rows belong to organizations. */
interface Owned {
  organizationId: number;
}

/** What the two phases of the feed read alike. */
interface PageContent {
  changes: JsonText[];
  hasMore: boolean;
  /** The newest change that the page may show. */
  newest: LastEmitted | null;
  /** As of when it was read. A page of a snapshot has no such moment, because it is not complete. */
  readAt: LogMoment | null;
}

declare class PhoneNumber {
  number: string;
  type: PhoneNumberTypeEnum;
  preferred: boolean;
}

declare const PhoneNumberTypeEnum: readonly ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'];
type PhoneNumberTypeEnum = (typeof PhoneNumberTypeEnum)[number];

/**
 * The engine of fields: one decorator declares a field's check (class-validator), its conversion (class-transformer) and
 * its description (OpenAPI), and the functions of this file read them back. The kinds of field are in `fields.ts`.
 */
/** By default, a field is required and not null. */
interface Presence {
  optional?: boolean;
  nullable?: boolean;
}

/** A column of a file for which a field is proposed. */
interface ProposedColumn {
  field: string | null;
  /** How many cells have a text. */
  filled: number;
}

/** What GET shows beside the fields of the record. A file may have it where it equals what is stored. */
interface ReadOnlyFields {
  /** Their paths; `tags.value` is in each entry of `tags`. */
  paths: string[];
  /** SQL of a JSON object of a stored row that has these fields. */
  json: (row: string) => string;
}

/** A record that is being built from the cells of a row. */
type RecordDraft = Record<string, unknown>;

/** An array of a record whose entries are rows of another table. */
interface RecordList {
  /** The field that holds the array. */
  name: string;
  entity: Class;
  /** What messages call one entry, if other records refer to it. */
  noun?: string;
  /** The property that tells entries apart. An entry that is a text is the value of this property. */
  key: string;
  /** The paths, in an entry, of properties of the entity whose fields have other names. */
  paths?: Record<string, string>;
  /** The properties of the entity that no entry holds. */
  notExported?: readonly string[];
  /** SQL that orders the entries of an export; by default they are ordered by their positions. */
  order?: (row: string) => string;
  /** The property that orders new rows. Rows with the same value keep the order of the file. */
  orderedBy?: string;
  /** Whether stored rows stay when the record does not have them. */
  isAdditive?: boolean;
  /** The table whose rows render rows of this one. */
  renderedBy?: string;
}

/** How to find the stored row of an imported record by something else than the dataset's key. */
interface RecordMatch {
  /** SQL of what identifies the record of a staged row. Rows that have it in common are the same record. */
  key: (staged: string) => string;
  /** SQL of the value that messages show. */
  value: (staged: string) => string;
  /** SQL of the id of the matching stored row, or null if there is none. `$1` is the organization's id. */
  findId: (staged: string) => string;
  /** The keys of the records that a stored row may match, as a query of one column. */
  storedKeys: (stored: string) => string;
}

/** Other records of the organization that cells refer to. */
interface ReferencedRecords {
  /**
   * SQL that selects each `text` by which a record is known, the `value` that refers to it, and a `rank`. If two records are
   * known by one text, the one with the lower rank is used. `$1` is the organization's ID.
   */
  sql: string;
  /** Whether letter case matters. */
  isExact: boolean;
  /** What separates several texts in a cell, in addition to the separators of every list. */
  separator?: RegExp;
  /** What is wrong with a text by which no record is known. */
  unknown: (text: string, column: string) => string;
  /** What is wrong with a text by which several records are known. */
  ambiguous: (text: string) => string;
  /** Creates records for texts by which none is known. */
  createMissing?: CreateReferences;
  /** What texts identify a record, for messages. */
  expected: string;
}

declare class RemoteIdInput {
  id: string | null;
  integrationType: IntegrationType;
}

/** A provider that takes the place of the one that a module has for the same token. */
type ReplacingProvider = ClassProvider | ValueProvider | FactoryProvider;

/** A check of staged rows. */
interface RowCheck {
  /** The path of the checked field in a record, or in an entry of the table's array. */
  path: string;
  /** SQL of the value of a staged row that messages show. */
  value: (staged: string) => string;
  /** SQL, to be used after `from`, that gives the invalid staged rows. */
  findViolations: (staged: string) => string;
  /** SQL of JSON that the message needs beside the value. */
  details?: (staged: string) => string;
  /** The error message for a value, which is already in quotes. */
  message: (value: string, details: unknown) => string;
  /** What a valid value is. */
  expected: string;
  /** Errors of one kind are reported in one line. */
  kind?: string;
}

/** How to import the rows of a table that all organizations share. They are staged in the table `staged_…`. */
interface SharedDataset {
  checks: ColumnCheck[];
  /** The condition of stored rows that staged rows may match. */
  matchingRows: (row: string) => string;
  /**
   * The statements that write the staged rows. `$1` is the organization's id.
   * @param provided the columns that the file provides, without the id and dates of creation and change
   * @param columns all such columns
   */
  writeStatements: (provided: string[], columns: string[]) => string[];
}

/**
 * A list of rows in order of arrival, whose total and pages are found without counting or skipping rows
 * (data/schema/functions/lists.sql). It is named after its table.
 */
interface TrackedList {
  table: string;
  parent?: {
    table: string;
    column: string;
    type: ListParent['type'];
  };
  isShared: boolean;
}

/** The fields of a record that are stored nowhere. */
type Unstored<R, E, D extends Partial<Dataset>> = Exclude<
  keyof R,
  keyof E | FirstSegments<D['paths']> | Names<D['lists']> | Keys<D['computedFields']>
>;

declare class UrlField {
  eventUrl?: string | null;
}

/** What people look for in a file: a way to reach somebody. */
type ValueKind = 'address' | 'number to call' | 'link';

/** The columns that a request may set. The organization of a row is always the caller's. */
type Values<T> = DeepPartial<Omit<T, 'organizationId'>>;

type Where<T> = FindOptionsWhere<T> | FindOptionsWhere<T>[];

type Work<T> = (manager: EntityManager) => Promise<T>;

export {};
