// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.

import { BadRequestException, BeforeApplicationShutdown, DynamicModule, Type } from '@nestjs/common';

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
  get(caller: Caller, activationId: string): Promise<JsonText>;
}

export declare const BooleanField: (options?: FieldOptions) => PropertyDecorator;

export interface Caller {
  organizationId: number;
  keyId: string;
  operation?: string;
}

export interface Change {
  resource: string;
  operation: ChangeOperation;
  at: string;
  record: Record<string, unknown> | null;
  [key: string]: unknown;
}

export type ChangesHandler = (organizationId: number, changes: Change[], position: ChangesPosition) => Promise<void>;

export declare class ChangesModule {}

export interface ChangesPosition {
  phase: ChangesPhase;
  hasMore: boolean;
  signal: AbortSignal;
}

export declare class ChangesService {
  readonly resources: FeedResources;
  start(caller: Caller, query: Pick<ChangesQuery, 'resources' | 'since'>): Promise<string>;
  reset(): Promise<number>;
  pageJson(caller: Caller, query: ChangesQuery): Promise<string[]>;
  page(caller: Caller, query: Partial<ChangesQuery>, maxBytes?: number): Promise<ChangesPage>;
}

export interface ChangesSubscription {
  name: string;
  resources?: string[];
  start: 'snapshot' | 'now';
}

export interface Context {
  module: Type;
  sections?: Record<string, Dataset>;
  feedResources?: readonly FeedResource[];
}

export declare const CurrentCaller: (...dataOrPipes: unknown[]) => ParameterDecorator;

export interface Dataset {
  record: Class;
  entity: Class;
  noun: string;
  key: string;
  paths?: Record<string, string>;
  lists?: RecordList[];
  renderedBy?: string;
  computedFields?: Record<string, ComputedField>;
  readOnlyFields?: ReadOnlyFields;
  comparableState?: (row: string) => string;
  reportsIds?: boolean;
  aliases?: Record<string, string[]>;
  mergedValues?: Record<string, (values: string, count: string) => string>;
  shared?: SharedDataset;
}

export declare const DateTime: (options?: FieldOptions) => PropertyDecorator;

export declare const DateTimeInput: (options?: NotBefore) => PropertyDecorator;

export declare const Day: ({ notBefore, ...options }?: NotBefore) => PropertyDecorator;

export declare const Email: (options?: FieldOptions) => PropertyDecorator;

export declare const EmailList: ({ max, distinct, ...options }?: ListOptions) => PropertyDecorator;

export declare class EventsModule {}

export declare class EventsService {
  list(caller: Caller, page: PageQuery): Promise<Page>;
  get(caller: Caller, eventId: number): Promise<JsonText>;
  create(caller: Caller, input: EventCreateV0Input): Promise<JsonText>;
  replace(caller: Caller, eventId: number, input: EventUpdateV0Input): Promise<JsonText>;
  delete(caller: Caller, eventId: number): Promise<void>;
  listLeads(caller: Caller, eventId: number, page: PageQuery): Promise<Page>;
  listUsers(caller: Caller, eventId: number, page: PageQuery): Promise<Page>;
  associate(caller: Caller, eventId: number, { eventLeads }: EventAddLeadsV0Input): Promise<JsonText>;
  dissociate(caller: Caller, eventId: number, leadId: string): Promise<void>;
}

export interface Extension {
  modules?: (Type | DynamicModule)[];
  migrations?: (new () => MigrationInterface)[];
  contexts?: readonly Context[];
}

export interface FeedResource extends TrackedList {
  name: string;
  number: number;
  model: Type<object>;
  recordSql: string;
  key: {
    integer?: KeyField;
    uuid?: KeyField;
  };
  changeDetector?: (row: 'old' | 'new') => string;
  childTable?: {
    name: string;
    parentColumn: string;
  };
  remoteIds?: Omit<KeyField, 'name'>;
}

export declare class IndustryEventsModule {}

export declare class IndustryEventsService {
  list(caller: Caller, { eventUrl, q, ...page }: IndustryEventsQuery): Promise<Page>;
  get(caller: Caller, industryEventId: string): Promise<JsonText>;
  create(caller: Caller, input: IndustryEventCreateV0Input): Promise<string[]>;
  update(caller: Caller, industryEventId: string, input: IndustryEventUpdateV0Input): Promise<JsonText>;
  listBookmarked(caller: Caller): Promise<JsonText[]>;
  addBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult>;
  removeBookmark(caller: Caller, industryEventId: string): Promise<BookmarkResult>;
}

export declare function Int32({
  min,
  max,
  ...options
}?: FieldOptions<{
  min?: number;
  max?: number;
}>): PropertyDecorator;

export declare class InvalidField extends InvalidRequest {
  constructor(path: string, reason?: FaultReason, { fault, detail }?: Partial<Fault>);
}

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

export type JsonText = string & {
  readonly isJson: unique symbol;
};

export declare class LeadActivityEventsModule {}

export declare class LeadActivityEventsService {
  list(caller: Caller, { leadId, eventType, ...page }: LeadActivityEventsQuery): Promise<Page>;
  get(caller: Caller, leadActivityEventId: string): Promise<JsonText>;
}

export declare class LeadsModule {}

export declare class LeadsService {
  list(caller: Caller, { email, remoteId, integrationType, ...page }: LeadsQuery): Promise<Page>;
  get(caller: Caller, leadId: string): Promise<JsonText>;
  create(caller: Caller, input: LeadCreateV0Input): Promise<JsonText>;
  patch(caller: Caller, leadId: string, input: LeadPatchV0Input): Promise<JsonText>;
  upsert(caller: Caller, batch: LeadBatchV0Input): Promise<JsonText[]>;
  delete(caller: Caller, leadId: string): Promise<void>;
}

export declare function ListOf(
  type: (parent?: object) => Class,
  { min, max, distinct, ...options }?: ListOptions,
): PropertyDecorator;

export declare const ListedEntity: (table: string, { parent, isShared }?: ListOptions2) => ClassDecorator;

export declare abstract class ListedRow {
  organizationId: number;
  position: string;
  createdAt: Date;
}

export declare abstract class ListedUuidRow extends ListedRow {
  id: string;
}

export declare const MAX_LENGTH: {
  readonly name: 255;
  readonly url: 2048;
  readonly prose: 65535;
};

export declare const NULLABLE_TEXT: ColumnOptions;

export declare const NULLABLE_TIMESTAMP: ColumnOptions;

export declare const NumericId: (options?: FieldOptions) => PropertyDecorator;

export declare const NumericIdParam: (name: string, example?: number) => ParameterDecorator;

export declare function ObjectOf(type: () => Class, options?: FieldOptions): PropertyDecorator;

export declare const OnChanges: (
  subscription: ChangesSubscription,
) => <Handler extends ChangesHandler>(
  _target: object,
  _method: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

export declare function OneOf(values: readonly string[], name: string, options?: FieldOptions): PropertyDecorator;

export declare class OrganizationRepository<T extends Owned> {
  find(options?: FindManyOptions<T>): Promise<T[]>;
  findBy(where: Where<T>): Promise<T[]>;
  findAndCount(options?: FindManyOptions<T>): Promise<[T[], number]>;
  findOne(options: FindOneOptions<T>): Promise<T | null>;
  findOneBy(where: Where<T>): Promise<T | null>;
  findOneByOrFail(where: Where<T>): Promise<T>;
  count(options?: FindManyOptions<T>): Promise<number>;
  countBy(where: Where<T>): Promise<number>;
  existsBy(where: Where<T>): Promise<boolean>;
  create(values?: Values<T>): T;
  insert(values: Values<T> | Values<T>[]): Promise<InsertResult>;
  save<V extends Values<T>>(values: V): Promise<V & T>;
  update(where: FindOptionsWhere<T>, changes: Values<T>): Promise<UpdateResult>;
  delete(where: FindOptionsWhere<T>): Promise<DeleteResult>;
}

export interface Page {
  limit: number;
  offset: number;
  items: (JsonText | object)[];
  total: number;
}

export declare class PageQuery {
  limit: number;
  offset: number;
}

export interface PagedList {
  name: string;
  isShared?: boolean;
  valueCount: number;
  text: string;
  firstPageText?: string;
}

export declare const Plain: () => ClassDecorator & MethodDecorator;

export declare const PreciseDateTime: (options?: FieldOptions) => PropertyDecorator;

export declare const Public: () => import('@nestjs/common', { with: { 'resolution-mode': 'import' } }).CustomDecorator<
  typeof PUBLIC
>;

export declare const QueryOneOf: (values: readonly string[], name: string, description: string) => PropertyDecorator;

export declare const QueryText: (
  description: string,
  limits?: {
    max?: number;
    blank?: boolean;
  },
) => PropertyDecorator;

export declare const QueryUuid: (description: string) => PropertyDecorator;

export declare const RefersTo: (entity: string, property: string, name: string, onDelete?: OnDelete) => ClassDecorator;

export type Rendering<T> = {
  readonly [Field in keyof Required<T>]: string;
};

export declare const Returns: <T extends object>(
  model: Type<T>,
  description: string,
  key?: string,
) => Answers<JsonText | string[] | T>;

export declare const ReturnsList: (
  key: string,
  model: Type,
  description: string,
  max?: number,
) => Answers<JsonText | (JsonText | object)[]>;

export declare const ReturnsNothing: (description: string) => Answers<void>;

export declare const ReturnsPage: (key: string, model: Type) => Answers<Page>;

export declare class RowNotFound extends Error {
  readonly fault?: string | undefined;
  readonly reason = 'not-found';
  constructor(fault?: string | undefined);
}

export type Scope = (typeof KEY_SCOPES)[number];

export declare const Scopes: (...scopes: Scope[]) => MethodDecorator & ClassDecorator;

export interface Statement {
  name: string;
  text: string;
  isShared?: boolean;
}

export declare class Statements {
  selectOne(caller: Caller, statement: Statement, values: unknown[], options?: StatementOptions): Promise<JsonText>;
  selectJson(caller: Caller, statement: Statement, values: unknown[], options?: StatementOptions): Promise<JsonText[]>;
  selectRows<R extends unknown[]>(
    caller: Caller,
    statement: Statement,
    values: unknown[],
    options?: StatementOptions,
  ): Promise<R[]>;
  execute(caller: Caller, statement: Statement, values: unknown[], options?: StatementOptions): Promise<number>;
  paginate(
    caller: Caller,
    list: PagedList,
    listValues: unknown[],
    { limit, offset }: Pick<Page, 'limit' | 'offset'>,
  ): Promise<Page>;
}

export declare const TIMESTAMP: ColumnOptions;

export declare const Tag: (name: string, description: string) => ClassDecorator;

export declare class TagGroupsModule {}

export declare class TagGroupsService {
  list(caller: Caller, page: PageQuery): Promise<Page>;
  get(caller: Caller, tagGroupId: string): Promise<JsonText>;
}

export declare function Text({
  max,
  blank,
  ...options
}?: FieldOptions<{
  max?: number;
  blank?: boolean;
}>): PropertyDecorator;

export declare const TextList: ({ max, ...options }?: ListOptions) => PropertyDecorator;

export declare const TimeOfDay: (options?: FieldOptions) => PropertyDecorator;

export declare class Transactions {
  get manager(): EntityManager | undefined;
  get settings(): ConnectionSettings;
  runOn<T>(manager: EntityManager, work: () => Promise<T>, settings?: ConnectionSettings): Promise<T>;
  run<T>(work: () => Promise<T>): Promise<T>;
  afterCommit(work: () => unknown, manager?: EntityManager | undefined): void;
}

export declare const Uuid: (options?: FieldOptions) => PropertyDecorator;

export declare const UuidList: ({ max, distinct, ...options }?: ListOptions) => PropertyDecorator;

export declare const UuidParam: (name: string, example?: string) => ParameterDecorator;

export declare const WithFunctions: (text: string) => ClassDecorator;

export declare const WithIndexFunctions: (text: string) => ClassDecorator;

export declare class Writes implements BeforeApplicationShutdown {
  get waitingRequests(): number;
  write(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText>;
  writeIfAny(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText | undefined>;
  writeAndCount(caller: Caller, statement: Statement, values: unknown[]): Promise<number>;
  deleteLong(caller: Caller, statement: Statement, values: unknown[]): Promise<void>;
  writeBatched(caller: Caller, statement: Statement, input: object): Promise<JsonText>;
  transaction<T>(caller: Caller, work: TransactionCallback<T>, extendedTimeoutMs?: number): Promise<T>;
  beforeApplicationShutdown(): void;
}

export declare function arrivalList({ entity, rowJson, parentExists }: ArrivalListOptions): PagedList;

export declare function dataSource({ migrations }?: Extension): Promise<DataSource>;

export declare const datasetOf: <
  R extends object,
  E extends object,
  const D extends Omit<Dataset, 'record' | 'entity'>,
>(
  record: Class<R>,
  entity: Class<E>,
  rest: D &
    ([Unstored<R, E, D>] extends [never]
      ? unknown
      : {
          notStored: Unstored<R, E, D>;
        }),
) => Dataset;

export declare const defineExtension: (extension: Extension) => Extension;

export declare const feedResource: (
  entity: new () => object,
  resource: Omit<FeedResource, keyof TrackedList>,
) => FeedResource;

export declare function filteredList(options: FilteredListOptions): PagedList;

export declare const json: <T>(fields: Rendering<T>) => string;

export declare const jsonList: <T>(fields: Rendering<T>, source: string) => string;

export declare const jsonObject: <T>(fields: Rendering<T>) => string;

export declare const nullable: {
  readonly nullable: true;
};

export declare const optional: {
  readonly optional: true;
};

export declare const optionalNullable: {
  readonly nullable: true;
  readonly optional: true;
};

export declare const repositoryFor: <T extends Owned>(
  caller: Caller,
  repository: Repository<T>,
) => OrganizationRepository<T>;

export declare function run(extension?: Extension): Promise<void>;

export declare const uuidKey: (example: string) => FeedResource['key'];

// Not exported, but named above.

type Answers<Result> = <Given extends (...args: never[]) => Promise<Result>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Given>,
) => void;

interface ArrivalListOptions {
  entity: new () => object;
  rowJson: string;
  parentExists?: string;
}

declare class BookmarkResult {
  success: boolean;
}

declare const ChangeOperation: readonly ['snapshot', 'created', 'updated', 'deleted'];
type ChangeOperation = (typeof ChangeOperation)[number];

interface ChangesPage {
  phase: ChangesPhase;
  changes: JsonText[];
  cursor: string;
  hasMore: boolean;
}

declare const ChangesPhase: readonly ['snapshot', 'changes'];
type ChangesPhase = (typeof ChangesPhase)[number];

declare class ChangesQuery {
  cursor?: string;
  since?: 'now';
  resources?: string[];
  limit: number;
}

type Class<T extends object = object> = new () => T;

interface ColumnCheck {
  column: string;
  findViolations: (staged: string) => string;
  message: (value: string) => string;
  expected: string;
}

interface ComputedField {
  type: string;
  select: (row: string) => string;
}

interface ConnectionSettings {
  timeoutMs?: number;
  isBackground?: boolean;
}

declare class CreationFields {
  createdByEmail?: string | null;
  firstName?: string | null;
  lastName?: string | null;
  companyName?: string | null;
}

declare class DateFields {
  startDate?: string | null;
  endDate?: string | null;
}

type Distinct = {
  distinct?: string | true;
};

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

declare class EventUpdateV0Input {
  eventName: string;
  eventType: EventType;
  startDate: string;
  endDate: string;
  registrationEnabled?: boolean;
}

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

interface Fault {
  readonly fault: string;
  readonly reason: FaultReason;
  readonly detail?: string;
}

type FaultReason = keyof typeof FAULT_REASONS;

declare class FeedResources {
  readonly all: readonly FeedResource[];
  readonly names: readonly string[];
  readonly numbers: readonly number[];
  hasNames(names: readonly string[]): boolean;
  hasNumbers(numbers: readonly number[]): boolean;
  numbersOf(names: readonly string[]): number[];
  get(number: number): FeedResource;
}

type FieldOptions<Own = object> = Presence &
  Own & {
    description?: string;
    example?: unknown;
  };

interface FilteredListOptions extends Pick<PagedList, 'name' | 'valueCount'> {
  entity: new () => object;
  rowJson: string;
  where: string;
  parentExists?: string;
}

type FirstSegments<Values> =
  Values extends Record<string, infer Path> ? (Path extends `${infer First}.${string}` ? First : Path) : never;

declare class IndustryEventCreateV0Input extends IndustryEventFields {
  name: string;
}

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

declare const KEY_SCOPES: readonly ['all', 'read', 'capture'];

interface KeyField {
  name: string;
  column: string;
  decorator: PropertyDecorator;
}

type Keys<Values> = Values extends object ? keyof Values : never;

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
}

type ListOptions = FieldOptions<
  {
    min?: number;
    max?: number;
  } & Distinct
>;

interface ListOptions2 {
  parent?: ListParent;
  isShared?: boolean;
}

interface ListParent {
  table: string;
  property: string;
  type: 'bigint' | 'integer' | 'uuid';
}

declare const MatchBy: readonly ['email', 'remoteId', 'none'];
type MatchBy = (typeof MatchBy)[number];

type Names<Values> = Values extends readonly {
  name: infer Name;
}[]
  ? Name
  : never;

type NotBefore = FieldOptions<{
  notBefore?: string;
}>;

type OnDelete = 'CASCADE' | 'SET NULL';

interface Owned {
  organizationId: number;
}

declare const PUBLIC: unique symbol;

declare class PhoneNumber {
  number: string;
  type: PhoneNumberTypeEnum;
  preferred: boolean;
}

declare const PhoneNumberTypeEnum: readonly ['MOBILE', 'LANDLINE', 'DIRECT', 'OFFICE', 'HQ', 'UNKNOWN'];
type PhoneNumberTypeEnum = (typeof PhoneNumberTypeEnum)[number];

interface Presence {
  optional?: boolean;
  nullable?: boolean;
}

interface ReadOnlyFields {
  paths: string[];
  json: (row: string) => string;
}

interface RecordList {
  name: string;
  entity: Class;
  noun?: string;
  key: string;
  paths?: Record<string, string>;
  order?: (row: string) => string;
  orderedBy?: string;
  isAdditive?: boolean;
  renderedBy?: string;
}

declare class RemoteIdInput {
  id: string | null;
  integrationType: IntegrationType;
}

interface SharedDataset {
  checks: ColumnCheck[];
  matchingRows: (row: string) => string;
  writeStatements: (provided: string[], columns: string[]) => string[];
}

interface StatementOptions extends ConnectionSettings {
  actor?: string;
  manager?: EntityManager;
}

interface TrackedList {
  table: string;
  parent?: {
    table: string;
    column: string;
    type: ListParent['type'];
  };
  isShared: boolean;
}

type TransactionCallback<T> = (manager: EntityManager, timeoutMs?: number) => Promise<T>;

type Unstored<R, E, D extends Partial<Dataset>> = Exclude<
  keyof R,
  keyof E | FirstSegments<D['paths']> | Names<D['lists']> | Keys<D['computedFields']>
>;

declare class UrlField {
  eventUrl?: string | null;
}

type Values<T> = DeepPartial<Omit<T, 'organizationId'>>;

type Where<T> = FindOptionsWhere<T> | FindOptionsWhere<T>[];

export {};
