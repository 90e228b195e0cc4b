import { type Config, ConfigError } from '../config';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres';
import { EmbeddedPostgresError } from '../embedded-postgres/embedded-postgres-error';
import type { Waiting } from '../database/connect';
import { isConnectionFault } from '../database/errors';
import { migrate } from './migrate';
import type { SchemaDefinition } from './schema-definition';

export interface OpenDatabase {
  /** connection string */
  url: string;
  /** names of the migrations that were missing, and were applied */
  applied: string[];
  /** whether it is the embedded PostgreSQL */
  embedded: boolean;
  /** what to say of an error: that the embedded PostgreSQL has ended is more than that a connection was lost */
  explain(error: unknown): unknown;
  /** gives the embedded PostgreSQL up; close pools before */
  close(): Promise<void>;
}

interface Opening extends Waiting {
  schema: SchemaDefinition;
  /** whether the embedded PostgreSQL is started again when it ends, as a server needs it */
  keepRunning?: boolean;
}

/**
 * The database that the settings name, with the migrations applied: DATABASE_URL, or else the embedded PostgreSQL,
 * which other processes of this installation may share.
 * @param say prints a line for a person
 * @param opening for a PostgreSQL that is not there yet, and for its migrations
 */
export async function openDatabase(
  config: Config,
  say: (line: string) => void,
  opening: Opening,
): Promise<OpenDatabase> {
  const database = await findDatabase(config, say, opening);
  try {
    return { ...database, applied: await migrate(database.url, opening.schema, opening) };
  } catch (error) {
    const fault = database.explain(error);
    await database.close();
    throw fault;
  }
}

/** The same database as it stands. That of DATABASE_URL may be away, and may be anything. */
export async function findDatabase(
  config: Config,
  say: (line: string) => void,
  { keepRunning }: Pick<Opening, 'keepRunning'> = {},
): Promise<OpenDatabase> {
  if (config.databaseUrl) {
    const explain = (error: unknown): unknown => error;
    return { url: config.databaseUrl, applied: [], embedded: false, explain, close: () => Promise.resolve() };
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, say, keepRunning });
  const explain = (error: unknown): unknown =>
    postgres.hasEnded && isLost(error) ? new EmbeddedPostgresError(ENDED, { cause: error }) : error;
  return { url: postgres.url, applied: [], embedded: true, explain, close: () => postgres.stop() };
}

const ENDED = 'The embedded PostgreSQL stopped together with the server or command that had started it. Try again.';

const isLost = (error: unknown): boolean => isConnectionFault(error instanceof ConfigError ? error.cause : error);
