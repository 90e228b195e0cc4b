import type { Config } from '../config';
import { startEmbeddedPostgres } from './embedded/embedded-postgres';
import { migrate, type Waiting } from './migrate';

export interface OpenDatabase {
  /** connection string of a migrated database */
  url: string;
  /** whether it is the embedded PostgreSQL */
  embedded: boolean;
  /** gives the embedded PostgreSQL up; close pools before */
  close(): Promise<void>;
}

/**
 * The database that the settings name, with the migrations applied: DATABASE_URL, or else the embedded PostgreSQL,
 * which other processes of this installation may share.
 * @param say told what a person should know, line by line
 * @param waiting for a PostgreSQL of DATABASE_URL that is not there yet
 */
export async function openDatabase(
  config: Config,
  say: (line: string) => void,
  waiting: Waiting = {},
): Promise<OpenDatabase> {
  if (config.databaseUrl) {
    await migrate(config.databaseUrl, waiting);
    return { url: config.databaseUrl, embedded: false, close: () => Promise.resolve() };
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, explicit: config.dataDirExplicit, say });
  try {
    await migrate(postgres.url);
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return { url: postgres.url, embedded: true, close: () => postgres.stop() };
}
