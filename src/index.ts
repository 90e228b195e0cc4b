/**
 * What a project that extends Lanyard may import; nothing else is promised. docs/api/lanyard.d.ts has the declarations, and a
 * change of them is a change of that file.
 */
import 'reflect-metadata';

export { dataSource } from './start/data-source';
export { defineExtension, type Extension } from './extensions/extension';
export { run } from './start/run';

// Requests and responses
export { Public } from './http/pipeline/public';
export { type Caller, CurrentCaller } from './http/pipeline/caller';
export {
  BooleanField,
  DateTime,
  DateTimeInput,
  Day,
  Decimal,
  Email,
  EmailList,
  Int32,
  JsonField,
  ListOf,
  MAX_LENGTH,
  nullable,
  NumericId,
  ObjectOf,
  OneOf,
  optional,
  optionalNullable,
  PreciseDateTime,
  Text,
  TextList,
  TimeOfDay,
  Uuid,
  UuidList,
} from './fields/fields';
export { PageQuery } from './fields/page-query';
export { NumericIdParam, QueryOneOf, QueryText, QueryUuid, UuidParam } from './fields/parameters';
export { Plain } from './http/pipeline/plain';
export { type Scope, Scopes } from './http/pipeline/scopes';
export { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from './http/pipeline/returns';
export { Tag } from './http/pipeline/tag';
export { InvalidField, InvalidRequest, RowNotFound } from './errors/exceptions';

// Entities, statements and lists
export { arrivalList, filteredList, type PagedList } from './data/database/paginate';
export { json, jsonList, jsonObject, type Rendering } from './data/database/rendering';
export { OrganizationRepository, repositoryFor } from './data/database/repository-for';
export { JsonText, Page, type PageFields, type Statement, Statements } from './data/database/statements';
export { Transactions } from './data/database/transactions';
export { Writes } from './data/database/writes';
export {
  decimalColumn,
  ListedRow,
  ListedUuidRow,
  NULLABLE_TEXT,
  NULLABLE_TIMESTAMP,
  RefersTo,
  TIMESTAMP,
} from './data/schema/columns';
export { WithFunctions, WithIndexFunctions } from './data/schema/functions';
export { ListedEntity } from './data/schema/lists';

// Import, export and the change feed
export { ChangesModule } from './feed/changes/changes.module';
export { ChangesService } from './feed/changes/changes.service';
export { feedResource, type FeedResource, uuidKey } from './feed/changes/feed-resource';
export type { Context } from './contexts';
export { withCsv } from './exchange/csv/csv-section';
export { type Dataset, datasetOf } from './exchange/datasets/dataset';
export {
  type Change,
  type ChangesHandler,
  type ChangesPosition,
  type ChangesSubscription,
  OnChanges,
} from './feed/changes/on-changes';

// Lanyard's own contexts: import a module to inject its service
export { ActivationsModule } from './contexts/activations/activations.module';
export { ActivationsService } from './contexts/activations/activations.service';
export { EventsModule } from './contexts/events/events.module';
export { EventsService } from './contexts/events/events.service';
export { IndustryEventsModule } from './contexts/industry-events/industry-events.module';
export { IndustryEventsService } from './contexts/industry-events/industry-events.service';
export { LeadActivityEventsModule } from './contexts/lead-activity-events/lead-activity-events.module';
export { LeadActivityEventsService } from './contexts/lead-activity-events/lead-activity-events.service';
export { leadReference } from './contexts/leads/lead.csv.reference';
export { LeadsModule } from './contexts/leads/leads.module';
export { LeadsService } from './contexts/leads/leads.service';
export { TagGroupsModule } from './contexts/tag-groups/tag-groups.module';
export { TagGroupsService } from './contexts/tag-groups/tag-groups.service';
