import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** The migrated database that each suite's own is cloned from, one for every run of the tests. */
const template = (): string => required('LANYARD_TEST_TEMPLATE');

export interface TestDatabase {
  url: string;
  /** for a suite that makes many; what is left after it is dropped by itself */
  drop(): Promise<void>;
}

/** What a suite has made and not dropped. */
const made = new Set<TestDatabase>();

/** A fresh migrated database (about 20 ms), so that suites neither clean up nor know of each other. */
export async function testDatabase(): Promise<TestDatabase> {
  return createDatabase(template());
}

/** An empty database, without a migration. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

export async function createDatabase(from: string): Promise<TestDatabase> {
  const name = `lanyard_test_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${name} template ${from}`);
  const drop = async (): Promise<void> => {
    if (made.delete(database)) await onServer(`drop database if exists ${name} with (force)`);
  };
  const database = { url: urlOf(name), drop };
  made.add(database);
  return database;
}

/** Drops what is left. */
export async function dropAll(): Promise<void> {
  for (const database of made) await database.drop();
}

/** The connection string of a database of the test server. */
export function urlOf(database: string, server = required('LANYARD_TEST_SERVER')): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

export async function onServer(sql: string, server = required('LANYARD_TEST_SERVER')): Promise<void> {
  const client = new Client(server);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the suites run through jest, whose global set-up sets it`);
  return value;
}
