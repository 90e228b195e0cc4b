import type { Config } from '../../config';
import { majorVersionOf } from '../embedded-postgres/cluster';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres';
import { EmbeddedPostgresError } from '../embedded-postgres/embedded-postgres-error';
import type { StartupOptions } from '../database/connect';
import { migrate } from './migrate';
import type { SchemaDefinition } from './schema-definition';

export interface OpenDatabase {
  /** The connection string. */
  url: string;
  /** The names of the migrations that were pending and have been applied. */
  appliedMigrations: string[];
  /** Whether the database is the embedded PostgreSQL. */
  isEmbedded: boolean;
  /** Stops using the embedded PostgreSQL. Close all pools first. */
  close(): Promise<void>;
}

export interface OpenOptions extends StartupOptions {
  schema: SchemaDefinition;
  /** Whether to restart the embedded PostgreSQL when it ends, as a server needs it. */
  keepRunning?: boolean;
  /** Whether to create the embedded PostgreSQL if it does not exist. Most commands must not: the directory may be mistyped. */
  createIfMissing?: boolean;
}

/**
 * Opens the database that the settings name, with the migrations applied: DATABASE_URL, or else the embedded PostgreSQL,
 * which other processes of this installation may share.
 * @param log prints a line for a person
 * @param options for waiting for the PostgreSQL and for its migrations
 */
export async function openDatabase(
  config: Config,
  log: (line: string) => void,
  options: OpenOptions,
): Promise<OpenDatabase> {
  const database = await findDatabase(config, log, options);
  try {
    return { ...database, appliedMigrations: await migrate(database.url, options.schema, options) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The same database as it is, without migrating it. A DATABASE_URL may be unreachable or name any database. */
export async function findDatabase(
  config: Config,
  log: (line: string) => void,
  { keepRunning, createIfMissing }: Pick<OpenOptions, 'keepRunning' | 'createIfMissing'> = {},
): Promise<OpenDatabase> {
  if (config.databaseUrl) {
    return { url: config.databaseUrl, appliedMigrations: [], isEmbedded: false, close: () => Promise.resolve() };
  }
  if (!createIfMissing && majorVersionOf(config.dataDir) === undefined) throw missingDatabaseError(config);
  const { dataDir, isDefaultDataDir: isDefaultDir } = config;
  const postgres = await startEmbeddedPostgres({ dataDir, isDefaultDir, log, keepRunning });
  return { url: postgres.url, appliedMigrations: [], isEmbedded: true, close: () => postgres.stop() };
}

const missingDatabaseError = ({ dataDir }: Config): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `There is no database in ${dataDir}. Set LANYARD_DATA_DIR or DATABASE_URL to the database of your server, or run ` +
      '"migrate" to create one.',
  );
