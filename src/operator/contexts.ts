import { CONTEXTS, feedResourcesOf, schemaDefinitionOf } from '../contexts';

// What commands need of the contexts before they have a database, such as the names in their help.
export const FEED_RESOURCES = feedResourcesOf(CONTEXTS);
export const SCHEMA = schemaDefinitionOf(CONTEXTS);
