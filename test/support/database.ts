import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
// Its modules name the entities.
import '../../src/app.module';
import { DATABASE_IDENTITY } from '../../src/changes/database-identity';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { createDataSource } from '../../src/database/data-source.module';
import { runAtEnd } from './at-the-end';
import { query } from './embedded-fixtures';

// Commands run within this process, and a server that is started has a log of its own.
Logger.overrideLogger(false);

/** The migrated database that each suite's own is cloned from, one for every run of the tests. */
const template = (): string => required('LANYARD_TEST_TEMPLATE');

export interface TestDatabase {
  url: string;
  /** for a suite that makes many; what is left after it is dropped by itself */
  drop(): Promise<void>;
}

/** A fresh migrated database (about 20 ms), so that suites neither clean up nor know of each other. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createDatabase(template());
  // It is a database of its own, and not a copy from which webhooks must not be sent.
  await query(database.url, `update changes_key set database_identity = ${DATABASE_IDENTITY}`);
  return database;
}

/** An empty database, without a migration. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

export async function createDatabase(from: string): Promise<TestDatabase> {
  const name = `lanyard_test_${randomBytes(6).toString('hex')}`;
  const server = required('LANYARD_TEST_SERVER');
  await query(server, `create database ${name} template ${from}`);
  const drop = runAtEnd(() => query(server, `drop database if exists ${name} with (force)`));
  return { url: urlOf(name, server), drop };
}

/** A database as the operator's commands see it: without the server's short timeouts. It is left at the end of the suite. */
export async function asOperator(url: string, poolSize?: number): Promise<DataSource> {
  const db = await createDataSource({ ...operatorDataSourceOptions(url), ...(poolSize && { poolSize }) });
  await db.initialize();
  runAtEnd(() => db.destroy());
  return db;
}

/** The connection string of a database of a server. */
export function urlOf(database: string, server: string): string {
  return Object.assign(new URL(server), { pathname: `/${database}` }).href;
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the suites run through jest, whose global set-up sets it`);
  return value;
}
