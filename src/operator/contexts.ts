import { CONTEXTS, datasetsOf, feedResourcesOf, organizationDataOf, schemaOf } from '../contexts';

// What commands need of the contexts before they have a database, such as the names in their help.
export const DATASETS = datasetsOf(CONTEXTS);
export const FEED_RESOURCES = feedResourcesOf(CONTEXTS);
export const ORGANIZATION_DATA = organizationDataOf(CONTEXTS);
export const SCHEMA = schemaOf(CONTEXTS);
