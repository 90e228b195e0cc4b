import { join } from 'node:path';
import { type MigrationInterface, DataSource, DefaultNamingStrategy, NamingStrategyInterface, Table } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { defaults, type Pool, types } from 'pg';
import { auditOptions } from './actor';
import { ConnectionPool } from './connection-pool';
import {
  CONNECT_TIMEOUT_MS,
  IDLE_IN_TRANSACTION_TIMEOUT_MS,
  LOCK_TIMEOUT_MS,
  QUERY_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from './limits';

/** The column of a property: its snake_case. */
export const snakeCase = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns are the snake_case of their properties, and primary keys are named as PostgreSQL names them. */
class SnakeCaseNamingStrategy extends DefaultNamingStrategy implements NamingStrategyInterface {
  override columnName(property: string, custom: string | undefined, embeddedPrefixes: string[] = []): string {
    const name = custom ?? snakeCase(property);
    return [...embeddedPrefixes.map(snakeCase), name].join('_');
  }

  override joinColumnName(relation: string, referencedColumn: string): string {
    return `${snakeCase(relation)}_${snakeCase(referencedColumn)}`;
  }

  override joinTableColumnName(table: string, property: string, column?: string): string {
    return `${table}_${column ?? snakeCase(property)}`;
  }

  override primaryKeyName(table: Table | string): string {
    return `${typeof table === 'string' ? table : table.name}_pkey`;
  }
}

// A calendar day has no time zone; the driver would make it midnight of this process's zone.
types.setTypeParser(types.builtins.DATE, (day) => day);
// Dates are sent in UTC, because the driver would round historical offsets of this process's time zone to minutes.
defaults.parseInputDatesAsUTC = true;

/** Compiling a plan to machine code takes longer than any statement here runs. */
const PLANNER_OPTIONS = '-c jit=off';

/** Another isolation level, set for the role or the database, would make concurrent writes fail. */
const ISOLATION_OPTIONS = '-c default_transaction_isolation=read\\ committed';

/** Timeouts that are set for the role or the database must not abort a long import. */
const UNLIMITED_TIMEOUTS = '-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0';

/** Imports sort whole files. A session of the operator's is alone, while each connection of a server could take as much. */
const SORT_IN_MEMORY = '-c work_mem=64MB';

/** PostgreSQL notices within two minutes that an operator's machine is gone, and releases the locks of its command. */
const KEEPALIVE_OPTIONS = '-c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6';

/** Options for requests, with limited connections and timeouts: a client waits at most two seconds for a broken database. */
export function dataSourceOptions(url: string, poolSize: number, auditDays?: number): PostgresDataSourceOptions {
  return {
    ...operatorDataSourceOptions(url),
    poolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      options: `${PLANNER_OPTIONS} ${ISOLATION_OPTIONS} ${auditOptions('process', auditDays)}`,
      application_name: 'lanyard',
    },
  };
}

export interface OperatorOptions {
  /** More settings of its sessions, as PostgreSQL's options. */
  session?: string;
  /** Migrations of an extension, beside Lanyard's own. */
  migrations?: readonly (new () => MigrationInterface)[];
}

/**
 * The same database for migrations, imports and exports, which may take as long as they need. TypeOrmModule adds the
 * entities, which modules name by `forFeature`.
 */
export function operatorDataSourceOptions(
  url: string,
  { session = '', migrations = [] }: OperatorOptions = {},
): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    driver: { Pool: ConnectionPool },
    url,
    namingStrategy: new SnakeCaseNamingStrategy(),
    // PostgreSQL's own gen_random_uuid(): TypeORM would install an extension at each start for a module's generated uuids.
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    migrations: [join(__dirname, '../schema/migrations/*.{ts,js}'), ...migrations],
    migrationsTableName: 'migrations',
    // Each migration has a transaction of its own, and the whole run holds an advisory lock (migrate.ts).
    migrationsTransactionMode: 'each',
    synchronize: false,
    logger: 'debug', // Errors are thrown, and standard output is reserved for the result of the command.
    logging: false,
    extra: {
      options: [
        PLANNER_OPTIONS,
        ISOLATION_OPTIONS,
        UNLIMITED_TIMEOUTS,
        SORT_IN_MEMORY,
        KEEPALIVE_OPTIONS,
        session,
      ].join(' '),
      application_name: 'lanyard-operator',
    },
  };
}

/** The pool of a data source, for what TypeORM lacks: prepared statements and the events of connections. */
export const poolOf = ({ driver }: DataSource): Pool => (driver as PostgresDriver).master as Pool;
