import type { Waiting } from '../../src/database/connect';
import { CONTEXTS, datasetsOf, feedResourcesOf, organizationDataOf, schemaOf } from '../../src/contexts';
import { migrate as migrateTo } from '../../src/schema/migrate';

export const DATASETS = datasetsOf(CONTEXTS);
export const FEED_RESOURCES = feedResourcesOf(CONTEXTS);
export const ORGANIZATION_DATA = organizationDataOf(CONTEXTS);
export const SCHEMA = schemaOf(CONTEXTS);

/** Migrates a database as a server does at its start. */
export const migrate = (url: string, waiting?: Waiting): Promise<string[]> => migrateTo(url, SCHEMA, waiting);
