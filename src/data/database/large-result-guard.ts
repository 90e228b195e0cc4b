import { type Client, Query, type QueryArrayConfig } from 'pg';
import { LargeResult } from '../../errors/exceptions';
import { queryFailed } from './errors';
import type { FairQueue } from './fair-queue';
import { MAX_SMALL_RESULT } from './limits';

export type TimedQuery = QueryArrayConfig & { query_timeout?: number };

export interface Result<R extends unknown[]> {
  rows: R[];
  /** The number of rows that the statement has selected, changed or deleted. */
  rowCount: number;
}

/**
 * Runs queries, and allows each organization one large result at a time. A record may have a megabyte and a page fifty
 * records, so eight such pages at once would fill the memory of the process (docs/decisions/0013).
 */
export class LargeResultGuard {
  /** The query of each organization that is receiving a large result. Organizations stay, so that the Map keeps its table. */
  private readonly large = new Map<number | undefined, object | undefined>();

  constructor(private readonly queue: FairQueue) {}

  /**
   * @param organizationId undefined where large results hinder nobody, because only one connection receives them
   * @param done is called once, with an error or the result. After a LargeResult, the connection must be closed.
   */
  query<R extends unknown[]>(
    client: Client,
    organizationId: number | undefined,
    { query_timeout, ...config }: TimedQuery,
    done: (error: Error | undefined, result: Result<R>) => void,
  ): void {
    let characters = 0;
    let isDone = false;
    const end = (error: Error | undefined, rows: R[], affected: number | null): void => {
      if (isDone) return; // Closing the connection also fails its query.
      isDone = true;
      if (this.large.get(organizationId) === query) this.large.set(organizationId, undefined);
      done(error, { rows, rowCount: affected ?? 0 });
    };
    const query = new Query<R>(config, (error, result) => {
      if (error) end(queryFailed(config.text, error), [], 0);
      else end(undefined, result.rows, result.rowCount);
    });
    query.on('row', (row) => {
      characters += typeof row[0] === 'string' ? row[0].length : 0;
      if (characters <= MAX_SMALL_RESULT || isDone || organizationId === undefined) return;
      this.queue.limitToOne(organizationId);
      const other = this.large.get(organizationId);
      if (other === undefined) this.large.set(organizationId, query);
      else if (other !== query) end(new LargeResult(), [], 0);
    });
    client.query(Object.assign(query, { query_timeout }));
  }
}
