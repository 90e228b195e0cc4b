import type { DataSource } from 'typeorm';
import { poolOf } from '../data/database/data-source';

/** How long a probe or a scrape waits for the database. */
const TIMEOUT_MS = 1000;

/**
 * Runs a statement on a connection of the pool. TypeORM would return an unresponsive one to the pool, for the next probe to use.
 * @returns its first row; undefined if PostgreSQL does not respond in time
 */
export async function probe<Row extends object>(
  dataSource: DataSource,
  text: string,
  values: unknown[] = [],
): Promise<Row | undefined> {
  const query = { text, values, query_timeout: TIMEOUT_MS };
  const result = await poolOf(dataSource)
    .query<Row>(query)
    .catch(() => undefined);
  return result?.rows[0];
}
