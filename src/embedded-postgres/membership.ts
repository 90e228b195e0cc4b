import { Client } from 'pg';
import { readPassword, ROLE } from './cluster';
import type { DataDirectory } from './data-directory';
import { codeOf } from './embedded-postgres-error';

/** Advisory lock, in the database postgres, that every user of the embedded PostgreSQL holds in shared mode. */
const LOCK = 5_269_716_233;

/** Milliseconds for the answer of a PostgreSQL that is to be left, so that one which gives none keeps nobody. */
const ANSWER = 2000;

/** The database of the service. The members connect to postgres, so that this one can be cloned or dropped. */
export const DATABASE = 'lanyard';

/**
 * One process's share in the embedded PostgreSQL: a connection that holds the shared lock. It ends with the process,
 * also by kill -9, so nothing is ever left over.
 */
export class Membership {
  private constructor(private readonly client: Client) {}

  /**
   * @returns undefined when somebody is just stopping the server.
   * @throws the error of pg when the server does not let us in.
   */
  static async join(directory: DataDirectory, port: number): Promise<Membership | undefined> {
    const client = new Client({
      host: '127.0.0.1',
      port,
      user: ROLE,
      password: readPassword(directory),
      database: 'postgres',
      application_name: 'lanyard (keeps PostgreSQL running)',
      connectionTimeoutMillis: 10_000,
      ssl: false,
    });
    client.on('error', () => undefined); // without a listener a lost connection would end the process; see onLost
    try {
      await client.connect();
      const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock_shared($1) as locked', [
        LOCK,
      ]);
      if (rows[0]?.locked) {
        await createDatabase(client);
        return new Membership(client);
      }
      await client.end();
      return undefined;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Calls back once, when the connection is gone, for whatever reason. */
  onLost(callback: () => void): void {
    this.client.once('end', callback);
  }

  /**
   * Gives up the share. If nobody else has one, calls `whenLast` while new ones are kept from joining.
   */
  async leave(whenLast: () => Promise<void>): Promise<void> {
    try {
      const soon = { values: [LOCK], query_timeout: ANSWER };
      await this.client.query({ text: 'select pg_advisory_unlock_shared($1)', ...soon });
      const last = { text: 'select pg_try_advisory_lock($1) as last', ...soon };
      const { rows } = await this.client.query<{ last: boolean }>(last);
      if (rows[0]?.last) await whenLast();
    } finally {
      await this.client.end().catch(() => undefined);
    }
  }
}

async function createDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
  if (rowCount) return;
  try {
    await client.query(`create database ${DATABASE}`);
  } catch (error) {
    // Another process was faster: duplicate_database, or unique_violation at the very same moment.
    if (!['42P04', '23505'].includes(codeOf(error) ?? '')) throw error;
  }
}
