import type { StartupOptions } from '../../src/data/database/connect';
import { CONTEXTS, datasetsOf, feedResourcesOf, organizationDataOf, schemaDefinitionOf } from '../../src/contexts';
import { migrate as migrateTo } from '../../src/data/schema/migrate';

export const DATASETS = datasetsOf(CONTEXTS);
export const FEED_RESOURCES = feedResourcesOf(CONTEXTS);
export const ORGANIZATION_DATA = organizationDataOf(CONTEXTS);
export const SCHEMA = schemaDefinitionOf(CONTEXTS);

/** Migrates a database as a server does at its start. */
export const migrate = (url: string, waiting?: StartupOptions): Promise<string[]> => migrateTo(url, SCHEMA, waiting);
