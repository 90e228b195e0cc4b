import { Injectable } from '@nestjs/common';
import { pipeline } from 'node:stream/promises';
import { escapeIdentifier, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { recordAudit } from '../../access/audit-log.service';
import { DataSource, type QueryRunner } from 'typeorm';
import type { StartupOptions } from '../../data/database/connect';
import { queryFailed } from '../../data/database/errors';
import { claimLog } from '../../feed/changes/claim-log';
import { Config } from '../../config';
import { functionsBeforeMigrations } from '../../data/schema/functions';
import { migrate, withMigrationLock } from '../../data/schema/migrate';
import { OrderedMigrations } from '../../data/schema/ordered-migrations';
import { SchemaDefinition } from '../../data/schema/schema-definition';
import { COPY_SETTINGS, quoteNames, selectTables } from './backup.service';
import { BackupError, type BackupHead, BackupReader, type RowCounts, skip } from './backup-file';

export interface RestoreResult {
  /** The number of restored rows of each table. */
  restored: RowCounts;
  /** Tables of the backup that were left out because no migration creates them. */
  skipped: string[];
  /** Names of the migrations that are newer than the backup and were applied to the restored rows. */
  applied: string[];
}

interface RestoreOptions extends StartupOptions {
  /** The name of the file in messages. */
  name: string;
  /** Called right before the commit. */
  beforeCommit: () => void;
}

/** One table, view or sequence, if there is any beside those of PostgreSQL extensions. */
const SELECT_ANY_RELATION = `
  select relname as name from pg_class c
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  order by 1 limit 1`;

/**
 * Statements that drop the foreign keys and create them again, because one check of all rows is faster than one per row, and
 * that disable and enable the triggers that migrations created, which must not change restored rows. Lanyard's own triggers are
 * created afterwards.
 */
const SELECT_SUSPENDED = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as remove,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
  from pg_constraint
  where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0
  union all
  select format('alter table %s disable trigger %I', tgrelid::regclass, tgname),
    format('alter table %s enable trigger %I', tgrelid::regclass, tgname)
  from pg_trigger t join pg_class c on c.oid = tgrelid
  where relnamespace = current_schema()::regnamespace and not tgisinternal and tgenabled = 'O'`;

/** Sequences that no migration creates are left out. */
const RESTORE_SEQUENCES = `
  select setval(to_regclass(quote_ident(name)), value) from json_to_recordset($1) as s (name text, value bigint)
  where to_regclass(quote_ident(name)) is not null`;

/**
 * Restores a backup into an empty database. One transaction applies the migrations that the backup names and copies its rows.
 * Then newer migrations, functions and triggers are applied as at any start.
 */
@Injectable()
export class RestoreService {
  constructor(
    private readonly config: Config,
    private readonly dataSource: DataSource,
    private readonly schema: SchemaDefinition,
  ) {}

  /** @param file a backup that `verifyBackup` has accepted */
  async restore(file: AsyncIterable<Buffer>, options: RestoreOptions): Promise<RestoreResult> {
    const { databaseUrl: url = '' } = this.config;
    const reader = new BackupReader(options.name, file);
    const head = await reader.readHead();
    const { restored, skipped } = await withMigrationLock(url, this.schema, options, async (dataSource) => {
      await requireEmpty(dataSource);
      const migrations = requireKnownMigrations(dataSource, head, reader);
      const target = await new DataSource({ ...this.dataSource.options, migrations }).initialize();
      try {
        return await restoreRows(target, this.schema, reader, head, options.beforeCommit);
      } finally {
        await target.destroy();
      }
    });
    const applied = await migrate(url, this.schema, options);
    await claimLog(this.dataSource);
    await recordAudit(this.dataSource.manager, { operation: 'restore', resource: 'restores', change: 'created' });
    // Without statistics, PostgreSQL would plan the first queries as if the tables were empty.
    await this.dataSource.query('analyze');
    return { restored, skipped, applied };
  }
}

async function requireEmpty(dataSource: DataSource): Promise<void> {
  const [relation] = await dataSource.query<{ name: string }[]>(SELECT_ANY_RELATION);
  if (!relation) return;
  throw new BackupError(
    `The database is not empty: it contains ${relation.name}. Set DATABASE_URL to an empty database, or ` +
      'LANYARD_DATA_DIR to an empty directory.',
  );
}

/** The classes of the migrations of the backup, as TypeORM expects them. */
function requireKnownMigrations({ migrations }: DataSource, head: BackupHead, reader: BackupReader) {
  const known = new Map(migrations.map(({ name, constructor }) => [name ?? constructor.name, constructor]));
  const unknown = head.migrations.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw reader.error(
      `was written by Lanyard ${head.release} and has migrations that this release does not know ` +
        `(${unknown.join(', ')}). Restore it with that release and the same extensions.`,
    );
  }
  return [...known].flatMap(([name, migration]) => (head.migrations.includes(name) ? [migration] : []));
}

async function restoreRows(
  target: DataSource,
  schema: SchemaDefinition,
  reader: BackupReader,
  head: BackupHead,
  beforeCommit: () => void,
): Promise<Omit<RestoreResult, 'applied'>> {
  const runner = target.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(COPY_SETTINGS);
    for (const text of functionsBeforeMigrations(target)) await runner.query(text);
    await new OrderedMigrations(target, schema, runner).executePendingMigrations();
    const names = new Set((await selectTables(runner.manager)).map(({ name }) => name));
    const inBackup = head.tables.map(({ name }) => name);
    const suspended = await runner.manager.query<{ remove: string; create: string }[]>(SELECT_SUSPENDED);
    for (const { remove } of suspended) await runner.query(remove);
    // Some migrations insert rows.
    await runner.query(`truncate ${quoteNames(inBackup.filter((name) => names.has(name)))}`);
    const restored = await copyTables(runner, reader, head, names);
    for (const { create } of suspended) await runner.query(create);
    await runner.query(RESTORE_SEQUENCES, [JSON.stringify(head.sequences)]);
    beforeCommit();
    await runner.commitTransaction();
    return { restored, skipped: inBackup.filter((name) => !names.has(name)) };
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

/** @param names of the tables that there are */
async function copyTables(
  runner: QueryRunner,
  reader: BackupReader,
  head: BackupHead,
  names: Set<string>,
): Promise<RowCounts> {
  const client = (await runner.connect()) as PoolClient;
  const restored: RowCounts = {};
  for await (const { name, columns, rows } of reader.readTables(head)) {
    if (!names.has(name)) {
      await skip(rows);
      continue;
    }
    const statement = `copy ${escapeIdentifier(name)} (${quoteNames(columns)}) from stdin`;
    const copy = client.query(copyFrom(statement));
    let readError: unknown;
    const readRows = async function* (): AsyncGenerator<Buffer> {
      try {
        yield* rows;
      } catch (error) {
        readError = error;
        throw error;
      }
    };
    await pipeline(readRows, copy).catch((error: Error) => {
      throw error === readError ? error : queryFailed(statement, error);
    });
    restored[name] = copy.rowCount;
  }
  return restored;
}
