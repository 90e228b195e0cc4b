import type { Config } from '../config';
import { startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres';
import type { Waiting } from './connect';
import { migrate } from './migrate';

export interface OpenDatabase {
  /** connection string */
  url: string;
  /** names of the migrations that were missing, and were applied */
  applied: string[];
  /** whether it is the embedded PostgreSQL */
  embedded: boolean;
  /** gives the embedded PostgreSQL up; close pools before */
  close(): Promise<void>;
}

/**
 * The database that the settings name, with the migrations applied: DATABASE_URL, or else the embedded PostgreSQL,
 * which other processes of this installation may share.
 * @param say prints a line for a person
 * @param waiting for a PostgreSQL that is not there yet, and for its migrations
 */
export async function openDatabase(
  config: Config,
  say: (line: string) => void,
  waiting: Waiting = {},
): Promise<OpenDatabase> {
  const database = await findDatabase(config, say);
  try {
    return { ...database, applied: await migrate(database.url, waiting) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The same database as it stands. That of DATABASE_URL may be away, and may be anything. */
export async function findDatabase(config: Config, say: (line: string) => void): Promise<OpenDatabase> {
  if (config.databaseUrl) {
    return { url: config.databaseUrl, applied: [], embedded: false, close: () => Promise.resolve() };
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, explicit: config.given.has('dataDir'), say });
  return { url: postgres.url, applied: [], embedded: true, close: () => postgres.stop() };
}
