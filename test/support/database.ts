import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
// Its modules name the entities.
import '../../src/app.module';
import { DATABASE_IDENTITY } from '../../src/feed/changes/database-identity';
import { operatorDataSourceOptions } from '../../src/data/database/data-source';
import { createDataSource } from '../../src/data/database/data-source.module';
import { createDatabase as createDatabaseOn, query, type TestDatabase } from '../../src/testing/test-database';
import { runAtEnd } from './jest/at-the-end';
import { EMPTY_DATABASE } from './locale';

// Commands run within this process, and a server that is started has a log of its own.
Logger.overrideLogger(false);

/**
 * A fresh migrated database (about 60 ms), so that suites neither clean up nor know of each other.
 * @param template another migrated database, to which nobody is connected, such as that of an extension
 */
export async function createTestDatabase(template?: TestDatabase): Promise<TestDatabase> {
  const database = await createDatabase(
    template ? new URL(template.url).pathname.slice(1) : required('LANYARD_TEST_TEMPLATE'),
  );
  // It is a database of its own, and not a copy from which webhooks must not be sent.
  await query(database.url, `update changes_key set database_identity = ${DATABASE_IDENTITY}`);
  return database;
}

/**
 * A database on the server of this run. A suite that makes many drops them; what is left after it is dropped by itself.
 * @param template what it is a copy of; by default it is empty, without a migration
 */
export async function createDatabase(template = EMPTY_DATABASE): Promise<TestDatabase> {
  const { url, drop } = await createDatabaseOn(required('LANYARD_TEST_SERVER'), template);
  return { url, drop: runAtEnd(drop) };
}

/** A database as the operator's commands see it: without the server's short timeouts. It is left at the end of the suite. */
export async function asOperator(url: string, poolSize?: number): Promise<DataSource> {
  const db = await createDataSource({ ...operatorDataSourceOptions(url), ...(poolSize && { poolSize }) });
  await db.initialize();
  runAtEnd(() => db.destroy());
  return db;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the suites run through jest, whose global set-up sets it`);
  return value;
}
