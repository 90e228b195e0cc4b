import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ConfigError } from '../config';
import { operatorDataSourceOptions } from './data-source';
import { sqlState } from './transaction';

/** Any constant: all processes that migrate one database must take the same lock. */
const MIGRATION_LOCK = 7_261_914;
/** Milliseconds for which a start waits for a database that is itself starting. */
const PATIENCE = 10_000;

/**
 * Applies the migrations that are missing. Processes that start at the same time queue on an advisory lock, which
 * PostgreSQL lets go when its holder dies.
 * @returns the names of the migrations that were applied
 * @throws ConfigError when the database cannot be reached
 */
export async function migrate(url: string): Promise<string[]> {
  const dataSource = await connect(url);
  try {
    const lock = dataSource.createQueryRunner();
    await lock.connect();
    try {
      await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
      const applied = await dataSource.runMigrations();
      return applied.map((migration) => migration.name);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** PostgreSQL is there, but still in recovery or shutting down, or has no connection left. */
const NOT_YET = ['57P01', '57P02', '57P03', '53300'];

async function connect(url: string): Promise<DataSource> {
  const started = Date.now();
  for (let wait = 50; ; wait *= 2) {
    const dataSource = new DataSource({ ...operatorDataSourceOptions(url), poolSize: 2 });
    try {
      return await dataSource.initialize();
    } catch (error) {
      if (NOT_YET.includes(sqlState(error) ?? '') && Date.now() - started + wait < PATIENCE) await pause(wait);
      else throw unreachable(url, error);
    }
  }
}

/** Names the place, and never the user or the password. */
function unreachable(url: string, error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code === undefined) return error;
  const { host, pathname } = new URL(url);
  return new ConfigError(`DATABASE_URL: cannot connect to ${host}${pathname}: ${message || code}`);
}
