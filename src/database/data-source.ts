import { join } from 'node:path';
import { DataSource, DefaultNamingStrategy, NamingStrategyInterface, Table } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { Client, type ClientConfig, defaults, type Pool, type QueryArrayConfig, type QueryResult, types } from 'pg';
import { READ_ONLY, sqlState } from './errors';

/** Columns are the snake_case of their properties, and primary keys are named as PostgreSQL names them. */
class SnakeCase extends DefaultNamingStrategy implements NamingStrategyInterface {
  override columnName(property: string, custom: string | undefined): string {
    return custom ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }

  override primaryKeyName(table: Table | string): string {
    return `${typeof table === 'string' ? table : table.name}_pkey`;
  }
}

// A calendar day has no time zone; the driver would make it midnight of this process's zone.
types.setTypeParser(types.builtins.DATE, (day) => day);
// Moments are sent in UTC: in this process's zone the driver would cut an offset of olden days to minutes.
defaults.parseInputDatesAsUTC = true;

/** Compiling a plan to machine code takes longer than any statement here runs. */
const PLANS = '-c jit=off';

/** What somebody set for the role or the database would make writes fail that wait for each other here. */
const ISOLATION = '-c default_transaction_isolation=read\\ committed';

/** Nor may they end an import after a minute. */
const NO_LIMITS = '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0';

/** Within two minutes PostgreSQL notices that an operator's machine is gone, and lets go what its command held. */
const KEEPALIVE = '-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6';

/** A query, and its timeout in milliseconds, when it is not the connection's. */
export type TimedQuery = QueryArrayConfig & { timeout?: number };
type Callback = (error: Error | null, result?: QueryResult) => void;

/** A connection for requests: what happens to it happens to the one that uses it, and to nobody else. */
class RequestClient extends Client {
  private readonly timeout?: number;

  constructor(config?: ClientConfig) {
    super({ ...config, query_timeout: 0 });
    this.timeout = config?.query_timeout;
    // An error between two users of the connection, when neither listens, would end the process. Whom the pool gives it
    // next is told.
    this.on('error', () => undefined);
  }

  // The type stands for all of the overloads that the pool and TypeORM use.
  override query(...given: never[]): never {
    const [query, ...more] = given as unknown[] as [string | TimedQuery, (unknown[] | Callback)?, Callback?];
    const callback = more.find((one) => typeof one === 'function');
    const values = more.find((one) => Array.isArray(one));
    if (callback) return this.send(query, values, callback) as never;
    const result = new Promise((resolve, reject) => {
      this.send(query, values, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
    return result.catch((error: Error) => {
      Error.captureStackTrace(error); // where it was asked, not where the socket was read
      throw error;
    }) as never;
  }

  /**
   * A statement that ran out of time still occupies its connection: a ROLLBACK would wait behind it for as long again,
   * and so would the next request that is given the connection. So the connection ends with it, and the pool makes a
   * new one. The driver's own limit would also blame the database when this process stood still: then timers run before
   * the answers that wait in the socket are read, so that it is looked again after they were.
   */
  private send(query: string | TimedQuery, values: unknown[] | undefined, callback: Callback): void {
    let isOver = false;
    const settle: Callback = (error, result) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      // A primary that became a standby is one for good; a new connection leads to whoever is the primary now.
      if (error && sqlState(error) === READ_ONLY) this.end().catch(() => undefined);
      callback(error, result);
    };
    const onTimeout = (): void => {
      if (isOver) return;
      this.end().catch(() => undefined);
      settle(new Error('Query read timeout'));
    };
    const timeout = (typeof query === 'object' && query.timeout) || this.timeout;
    const timer = timeout && setTimeout(() => setImmediate(onTimeout), timeout);
    super.query(query as string, values as never, settle as never);
  }
}

/**
 * PostgreSQL for requests: bounded in connections and in time (milliseconds), so that a database in trouble costs a
 * client two seconds and never a hung connection.
 */
export function dataSourceOptions(url: string, poolSize: number): PostgresDataSourceOptions {
  return {
    ...operatorDataSourceOptions(url),
    poolSize,
    connectTimeoutMS: 1000,
    extra: {
      statement_timeout: 1500,
      // Shorter, so that PostgreSQL tells who waited for somebody else: an import may hold a row for minutes.
      lock_timeout: 1300,
      query_timeout: 1800,
      // Of a client that the network swallowed PostgreSQL hears nothing: its open transaction would keep its locks.
      idle_in_transaction_session_timeout: 5000,
      Client: RequestClient,
      options: `${PLANS} ${ISOLATION}`,
      application_name: 'lanyard',
    },
  };
}

/**
 * The same database for migrations, imports and exports, which may take as long as they need.
 * @param session more settings of its sessions, as PostgreSQL's options
 */
export function operatorDataSourceOptions(url: string, session = ''): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    namingStrategy: new SnakeCase(),
    entities: [join(__dirname, '../*/*.entity.{ts,js}')],
    migrations: [join(__dirname, 'migrations/*.{ts,js}')],
    migrationsTableName: 'migrations',
    // each migration in a transaction of its own; the whole run under an advisory lock (migrate.ts)
    migrationsTransactionMode: 'each',
    synchronize: false,
    logger: 'debug', // errors are thrown, and standard output is the command's answer
    logging: false,
    extra: {
      options: [PLANS, ISOLATION, NO_LIMITS, KEEPALIVE, session].join(' '),
      application_name: 'lanyard-operator',
    },
  };
}

/** The pool of a data source, for what TypeORM does not have: prepared statements, and news of its connections. */
export const poolOf = ({ driver }: DataSource): Pool => (driver as PostgresDriver).master as Pool;
