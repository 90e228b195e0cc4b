import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/** The migrated database that each suite's own is cloned from, one for every run of the tests. */
const template = (): string => required('LANYARD_TEST_TEMPLATE');

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

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
  return { url: urlOf(name), drop: () => onServer(`drop database if exists ${name} with (force)`) };
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
