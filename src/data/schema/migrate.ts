import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { ConfigError } from '../../config';
import { connect, FIRST_RETRY_DELAY_MS, MAX_RETRY_DELAY_MS, type StartupOptions } from '../database/connect';
import { LOCKED } from '../../errors/sql-state-codes';
import { hasSqlState } from '../database/errors';
import { rebuildDerivedColumns } from './rebuild-derived';
import { requireDirectConnection } from './direct-connection';
import { SchemaFunctions, TABLE_LOCK_TIMEOUT_MS } from './functions';
import { OrderedMigrations } from './ordered-migrations';
import type { SchemaDefinition } from './schema-definition';
import { requireTenancy } from './tenancy';
import { recordRelease, requireUsableSchema, type SchemaState } from './schema-release';

/** An arbitrary constant. All processes that migrate one database must take the same lock. */
const MIGRATION_LOCK = 7_261_914;

/**
 * Applies pending migrations, applies the functions if their text has changed, and rebuilds what older functions derived.
 * Processes that start at the same time take turns by an advisory lock, which PostgreSQL releases when its holder dies.
 * @returns the names of the applied migrations
 * @throws ConfigError if the database cannot be reached directly, is not Unicode, or has a schema of a release that is too
 *   old to be upgraded, or too new
 */
export function migrate(url: string, schema: SchemaDefinition, options: StartupOptions = {}): Promise<string[]> {
  return withMigrationLock(url, schema, options, (dataSource) => applyPendingMigrations(dataSource, schema, options));
}

/**
 * Reverts the migrations of an extension that is to be removed. No server may be running.
 * @returns their names
 */
export function revertExtension(
  url: string,
  schema: SchemaDefinition,
  options: StartupOptions = {},
): Promise<string[]> {
  return withMigrationLock(url, schema, options, async (dataSource) => {
    await requireUsableSchema(dataSource);
    return new OrderedMigrations(dataSource, schema).revertExtension();
  });
}

/** Runs work that changes the schema while no other process does. */
export async function withMigrationLock<T>(
  url: string,
  schema: SchemaDefinition,
  options: StartupOptions,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const session = `-c lock_timeout=${TABLE_LOCK_TIMEOUT_MS}`;
  const dataSource = await connect(url, options, { session, migrations: schema.migrations });
  try {
    await requireUnicode(dataSource, options);
    const lock = dataSource.createQueryRunner();
    await lock.connect();
    try {
      await requireDirectConnection(dataSource, lock, TABLE_LOCK_TIMEOUT_MS);
      await acquireMigrationLock(lock, options);
      return await work(dataSource);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/** How to create a database that meets Lanyard's requirements. */
const EXPECTED_ENCODING = "Create it with ENCODING 'UTF8' and a UTF-8 locale such as C.UTF-8.";

/**
 * An encoding that lacks letters would reject what clients send. A database without an encoding, or with the locale C,
 * stores everything unchanged, but its searches ignore case only in ASCII letters.
 */
async function requireUnicode(dataSource: DataSource, { log }: StartupOptions): Promise<void> {
  const [{ name, encoding }] = await dataSource.query<[{ name: string; encoding: string }]>(
    'select current_database() as name, getdatabaseencoding() as encoding',
  );
  if (!['UTF8', 'SQL_ASCII'].includes(encoding)) {
    throw new ConfigError(`DATABASE_URL: the database ${name} has the encoding ${encoding}. ${EXPECTED_ENCODING}`);
  }
  const [{ folds }] = await dataSource.query<[{ folds: boolean }]>(
    `select to_tsvector('simple', 'Ж') = to_tsvector('simple', 'ж') as folds`,
  );
  if (encoding === 'UTF8' && folds) return;
  log?.(`Searches in the database ${name} ignore case only in ASCII letters. ${EXPECTED_ENCODING}`);
}

/** After this many attempts a message is printed. Processes that start together are usually done sooner. */
const STARTUP_ATTEMPTS = 5;

/** Polls for the lock, because a signal could not interrupt a statement that waits for it. */
async function acquireMigrationLock(lock: QueryRunner, { log, signal }: StartupOptions): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const [row] = (await lock.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])) as [
      { taken: boolean },
    ];
    if (row.taken) return;
    if (attempt === STARTUP_ATTEMPTS) log?.('Waiting for another process to finish migrating the database');
    await pause(Math.min(FIRST_RETRY_DELAY_MS * 2 ** attempt, MAX_RETRY_DELAY_MS), undefined, { signal });
  }
}

async function applyPendingMigrations(
  dataSource: DataSource,
  schema: SchemaDefinition,
  options: StartupOptions,
): Promise<string[]> {
  const state = await requireUsableSchema(dataSource);
  const migrations = new OrderedMigrations(dataSource, schema);
  const pending = await migrations.getPendingMigrations();
  const functions = new SchemaFunctions(dataSource, schema);
  const keepsFunctions = state.isNewer || (await areOfExtension(functions, migrations, state, options));
  await retryWhileLocked(options, async () => {
    if (keepsFunctions) {
      // The functions of a newer release or of an extension must stay; an extension may still lack migrations.
      await migrations.executePendingMigrations();
      return;
    }
    await functions.applyBeforeMigrations();
    if (pending.length > 0) await functions.markOutdated();
    await migrations.executePendingMigrations();
    await requireTables(dataSource);
    await functions.apply();
    await recordRelease(dataSource, migrations.lastOwn);
    await rebuildDerivedColumns(dataSource, options);
  });
  // What is meant in the tables of an extension or of a newer release, only their own program knows.
  if ((await migrations.findUnknown()).length === 0) await requireTenancy(dataSource, schema);
  return pending.map(({ name }) => name);
}

/** @throws ConfigError that names the entities whose tables no migration creates */
async function requireTables(dataSource: DataSource): Promise<void> {
  const entities = dataSource.entityMetadatas.filter(
    ({ synchronize, tableType }) => synchronize && tableType !== 'view',
  );
  const rows = await dataSource.query<{ table: string }[]>(
    'select path as table from unnest($1::text[]) path where to_regclass(quote_ident(path)) is null',
    [entities.map(({ tableName }) => tableName)],
  );
  const missing = rows.map(({ table }) => entities.find(({ tableName }) => tableName === table)?.name);
  if (missing.length === 0) return;
  throw new ConfigError(`No migration creates the table of ${missing.join(', ')} yet: run migration:generate.`);
}

/**
 * Whether the functions and triggers in force belong to an extension that this program does not have, so that they must stay.
 * @throws ConfigError when they also belong to an older release, because then this program cannot run on them
 */
async function areOfExtension(
  functions: SchemaFunctions,
  migrations: OrderedMigrations,
  { isCurrent }: SchemaState,
  { log }: StartupOptions,
): Promise<boolean> {
  const unknown = await migrations.findUnknown();
  if (unknown.length === 0 || (await functions.areApplied())) return false;
  const found = `The database has migrations of an extension that this program does not have (${unknown.join(', ')})`;
  if (!isCurrent) {
    throw new ConfigError(
      `${found}. Upgrade the database with the program of the extension, or run its "migrate --revert-extension" first.`,
    );
  }
  log?.(`${found}. Its functions and triggers are left as they are.`);
  return true;
}

/**
 * Applies all functions and triggers, because some were dropped or disabled.
 * @throws ConfigError when those in force are not of this program
 */
export async function reapplyFunctions(dataSource: DataSource, schema: SchemaDefinition): Promise<void> {
  const functions = new SchemaFunctions(dataSource, schema);
  if (!(await functions.areApplied())) {
    throw new ConfigError(
      'The functions and triggers belong to another release of Lanyard, or to an extension. Repair them with that program.',
    );
  }
  await functions.markOutdated();
  await retryWhileLocked({}, () => functions.apply());
}

/**
 * An import may hold a table for minutes, and all requests for that table queue behind a migration that waits for it. So the
 * migration gives up after a short time and tries again.
 */
async function retryWhileLocked({ log, signal }: StartupOptions, work: () => Promise<void>): Promise<void> {
  for (let hasLogged = false; ; hasLogged = true) {
    try {
      await work();
      return;
    } catch (error) {
      if (!hasSqlState(error, LOCKED)) throw error;
      if (!hasLogged)
        log?.('Waiting for an import or another long transaction to finish before migrating the database');
      await pause(MAX_RETRY_DELAY_MS, undefined, { signal });
    }
  }
}
