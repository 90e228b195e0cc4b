import { Pool, type PoolClient } from 'pg';
import { QueryFailedError } from 'typeorm';

type ConnectCallback = Parameters<Pool['connect']>[0];

/** There was no connection: none could be opened, or none was free in time. Nothing was done. */
export class ConnectionFailed extends QueryFailedError {
  constructor(error: Error & { code?: string }) {
    super('connect', undefined, error);
    // The error of several addresses has no message of its own.
    this.message = error.message || (error.code ?? '');
  }
}

/** The driver's pool. TypeORM wraps the errors of statements but not those of connecting, so the pool does that. */
export class ConnectionPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (callback)
      return super.connect((error, client, release) => callback(error && new ConnectionFailed(error), client, release));
    return super.connect().catch((error: Error) => {
      throw new ConnectionFailed(error);
    });
  }
}
