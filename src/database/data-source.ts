import { join } from 'node:path';
import { DefaultNamingStrategy, NamingStrategyInterface, Table } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { Client, type ClientConfig, defaults, types } from 'pg';

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

/**
 * Every read is a prepared statement, and planning one anew costs as much as running it; so do the statements inside of
 * triggers. Page sizes are written into the statements, so that a generic plan knows them. Compiling a plan to machine
 * code takes longer than any of them runs. And a plan lives on while tables grow: made on an empty one, it must not be to
 * walk through it.
 */
const PLANS = '-c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off';

/** Within two minutes PostgreSQL notices that an operator's machine is gone, and lets go what its command held. */
const KEEPALIVE = '-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6';

/** A connection for requests: what happens to it happens to the one that uses it, and to nobody else. */
class RequestClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    // An error between two users of the connection, when neither listens, would end the process. Whom the pool gives it
    // next is told.
    this.on('error', () => undefined);
  }

  /**
   * A statement that ran out of time still occupies its connection: a ROLLBACK would wait behind it for as long again,
   * and so would the next request that is given the connection. So the connection ends with it, and the pool makes a
   * new one.
   */
  // The type stands for all of the overloads. Promises alone: where the pool asks by itself (a callback) it ends it.
  override query(...given: never[]): never {
    const asked: unknown = super.query(...(given as unknown as Parameters<Client['query']>));
    if (!(asked instanceof Promise)) return asked as never;
    const watched = asked.catch((error: Error) => {
      if (error.message === 'Query read timeout') this.end().catch(() => undefined);
      throw error;
    });
    return watched as never;
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
      query_timeout: 1800,
      // Of a client that the network swallowed PostgreSQL hears nothing: its open transaction would keep its locks.
      idle_in_transaction_session_timeout: 5000,
      Client: RequestClient,
      options: PLANS,
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
    extra: { options: `${PLANS} ${KEEPALIVE} ${session}`, application_name: 'lanyard-operator' },
  };
}
