import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { escapeIdentifier, type PoolClient } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { DataSource, type EntityManager } from 'typeorm';
import { version } from '../../../package.json';
import { recordAuditIfWritable } from '../../access/audit-log.service';
import { queryFailed } from '../../data/database/errors';
import { requireUsableSchema } from '../../data/schema/schema-release';
import {
  type BackupEnd,
  BackupError,
  type BackupHead,
  type BackupTable,
  END_OF_ROWS,
  BACKUP_FORMAT,
  BACKUP_FORMAT_VERSION,
  type RowCounts,
} from './backup-file';

/** Makes COPY write and read values alike, whatever the role or the database is set to. Rows hidden by row security are an error. */
export const COPY_SETTINGS = `
  set local client_encoding = 'UTF8';
  set local datestyle = 'ISO, YMD';
  set local intervalstyle = 'postgres';
  set local extra_float_digits = 1;
  set local row_security = off`;

/** Tables that are not part of a backup, because restoring applies the migrations and functions again. */
const SCHEMA_TABLES = ['migrations', 'applied_functions'];

/** Every table of the schema with its stored columns. Tables of PostgreSQL extensions and generated columns are left out. */
const SELECT_TABLES = `
  select relname as name, array_agg(attname::text order by attnum) as columns
  from pg_class c join pg_attribute on attrelid = c.oid
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relpersistence = 'p'
    and attnum > 0 and not attisdropped and attgenerated = '' and relname <> all ($1)
    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  group by 1 order by 1`;

const SELECT_SEQUENCES = `
  select sequencename as name, last_value::text as value from pg_sequences
  where schemaname = current_schema() and last_value is not null order by 1`;

/** Quotes names for SQL, because they may be reserved words. */
export const quoteNames = (names: string[]): string => names.map(escapeIdentifier).join(', ');

/**
 * Writes a consistent snapshot of all rows of the database. Requests are served meanwhile; migrations wait.
 */
@Injectable()
export class BackupService {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Yields the backup in chunks, uncompressed.
   * @param counts receives the number of rows of each table
   * @throws BackupError if there is nothing to back up
   */
  async *backup(counts: RowCounts): AsyncGenerator<string | Buffer> {
    const hash = createHash('sha256');
    for await (const chunk of this.snapshot(counts)) {
      hash.update(chunk);
      yield chunk;
    }
    const end: BackupEnd = { rows: counts, sha256: hash.digest('hex') };
    yield `${JSON.stringify(end)}\n`;
  }

  /** Yields the head and the tables. */
  private async *snapshot(counts: RowCounts): AsyncGenerator<string | Buffer> {
    await requireUsableSchema(this.dataSource);
    const tables = await selectTables(this.dataSource.manager);
    if (!tables.some(({ name }) => name === 'organizations')) {
      throw new BackupError(
        'There is nothing to back up: the database has no tables of Lanyard. Is DATABASE_URL right?',
      );
    }
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as PoolClient;
    try {
      await runner.startTransaction('REPEATABLE READ');
      await runner.query(COPY_SETTINGS);
      // The locks are taken before the snapshot, so that no table is dropped or altered after it.
      await runner.query(`lock table ${quoteNames(tables.map(({ name }) => name))} in access share mode`);
      const head = await createHead(runner.manager);
      yield `${JSON.stringify(head)}\n`;
      const copies = [];
      for (const table of head.tables) {
        yield `${JSON.stringify({ table })}\n`;
        const statement = `copy ${escapeIdentifier(table.name)} (${quoteNames(table.columns)}) to stdout`;
        const rows = client.query(copyTo(statement));
        try {
          yield* rows as AsyncIterable<Buffer>;
        } catch (error) {
          throw queryFailed(statement, error as Error);
        }
        yield END_OF_ROWS;
        copies.push({ name: table.name, rows });
      }
      await runner.rollbackTransaction();
      // PostgreSQL reports the number of rows after the last row, so it is known only now.
      for (const { name, rows } of copies) counts[name] = rows.rowCount;
      await recordAuditIfWritable(runner.manager, { operation: 'backup', resource: 'backups', change: 'created' });
    } finally {
      await runner.release();
    }
  }
}

export const selectTables = (manager: EntityManager): Promise<BackupTable[]> =>
  manager.query(SELECT_TABLES, [SCHEMA_TABLES]);

async function createHead(manager: EntityManager): Promise<BackupHead> {
  const tables = await selectTables(manager);
  const migrations = await manager.query<{ name: string }[]>('select name from migrations order by id');
  return {
    format: BACKUP_FORMAT,
    version: BACKUP_FORMAT_VERSION,
    release: version,
    createdAt: new Date().toISOString(),
    migrations: migrations.map(({ name }) => name),
    tables,
    // Sequences are not part of the snapshot. Their current values are never below those that the rows use.
    sequences: await manager.query(SELECT_SEQUENCES),
  };
}
