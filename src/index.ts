/**
 * What a project that extends Lanyard may import; nothing else is promised. docs/api/lanyard.d.ts has the declarations, and a
 * change of them is a change of that file.
 */
import 'reflect-metadata';

export { dataSource } from './start/data-source';
export { defineExtension, type Extension } from './extensions/extension';
export { run } from './start/run';

// Requests and responses
export { Public } from './api/public';
export { type Caller, CurrentCaller } from './api/caller';
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
export { Plain } from './api/plain';
export { type Scope, Scopes } from './api/scopes';
export { Returns, ReturnsList, ReturnsNothing, ReturnsPage } from './api/returns';
export { Tag } from './api/tag';
export { InvalidField, InvalidRequest, RowNotFound } from './errors/exceptions';

// Entities, statements and lists
export { arrivalList, filteredList, type PagedList } from './database/paginate';
export { json, jsonList, jsonObject, type Rendering } from './database/rendering';
export { OrganizationRepository, repositoryFor } from './database/repository-for';
export { type JsonText, type Page, type Statement, Statements } from './database/statements';
export { Transactions } from './database/transactions';
export { Writes } from './database/writes';
export {
  decimalColumn,
  ListedRow,
  ListedUuidRow,
  NULLABLE_TEXT,
  NULLABLE_TIMESTAMP,
  RefersTo,
  TIMESTAMP,
} from './schema/columns';
export { WithFunctions, WithIndexFunctions } from './schema/functions';
export { ListedEntity } from './schema/lists';

// Import, export and the change feed
export { ChangesModule } from './changes/changes.module';
export { ChangesService } from './changes/changes.service';
export { feedResource, type FeedResource, uuidKey } from './changes/feed-resource';
export type { Context } from './contexts';
export { withCsv } from './csv/csv-section';
export { type Dataset, datasetOf } from './datasets/dataset';
export {
  type Change,
  type ChangesHandler,
  type ChangesPosition,
  type ChangesSubscription,
  OnChanges,
} from './changes/on-changes';

// Lanyard's own contexts: import a module to inject its service
export { ActivationsModule } from './activations/activations.module';
export { ActivationsService } from './activations/activations.service';
export { EventsModule } from './events/events.module';
export { EventsService } from './events/events.service';
export { IndustryEventsModule } from './industry-events/industry-events.module';
export { IndustryEventsService } from './industry-events/industry-events.service';
export { LeadActivityEventsModule } from './lead-activity-events/lead-activity-events.module';
export { LeadActivityEventsService } from './lead-activity-events/lead-activity-events.service';
export { leadReference } from './leads/lead.csv.reference';
export { LeadsModule } from './leads/leads.module';
export { LeadsService } from './leads/leads.service';
export { TagGroupsModule } from './tag-groups/tag-groups.module';
export { TagGroupsService } from './tag-groups/tag-groups.service';
