import type { DataSource } from 'typeorm';
import { version } from '../../../package.json';
import { ConfigError } from '../../config';
import { InitialSchema1767225600000 } from './migrations/1767225600000-initial-schema';

/**
 * The oldest release that runs on the schema of this one (docs/decisions/0022). Each release sets it to the previous one;
 * 0.2.0 cannot upgrade a database of 0.1.0, so it names itself.
 */
export const OLDEST_RELEASE = '0.2.0';

/** A release that has migrated the database. */
interface SchemaRelease {
  release: string;
  oldestRelease: string;
}

/** How the schema of the database relates to this release. */
export interface SchemaState {
  /** Whether a newer release has migrated the database, whose functions and derived data must stay as they are. */
  isNewer: boolean;
  /** Whether the last release that migrated the database is this one or a newer one. */
  isCurrent: boolean;
}

const NOT_UPGRADABLE =
  'The database was created by Lanyard 0.1.0 and cannot be upgraded. Export each organization with Lanyard 0.1.0 ' +
  '(export --organization ID) and import the files into an empty database with this release.';

const FIND_TABLES = `
  select to_regclass('migrations') is not null as migrations,
    to_regclass('applied_functions') is not null as functions,
    to_regclass('schema_releases') is not null as releases`;

/**
 * Compares the schema with this release. It only reads.
 * @throws ConfigError if this release can neither upgrade the schema nor run on it
 */
export async function requireUsableSchema(dataSource: DataSource): Promise<SchemaState> {
  const [tables] = await dataSource.query<[Record<'migrations' | 'functions' | 'releases', boolean>]>(FIND_TABLES);
  if (tables.migrations && !tables.functions && (await hasInitialSchema(dataSource)))
    throw new ConfigError(NOT_UPGRADABLE);
  const releases = tables.releases ? await releasesOf(dataSource) : [];
  const blocking = releases.find(({ oldestRelease }) => compareReleases(oldestRelease, version) > 0);
  if (blocking) {
    throw new ConfigError(
      `The database was migrated by Lanyard ${blocking.release}, and Lanyard ${version} cannot run on its schema. ` +
        `Start Lanyard ${blocking.oldestRelease} or newer.`,
    );
  }
  const newest = releases[0] ? compareReleases(releases[0].release, version) : -1;
  return { isNewer: newest > 0, isCurrent: newest >= 0 };
}

/** The initial migration of 0.1.0 had the same name, but its schema lacked the table of functions. */
async function hasInitialSchema(dataSource: DataSource): Promise<boolean> {
  const { name } = InitialSchema1767225600000;
  return (await dataSource.query<unknown[]>('select from migrations where name = $1', [name])).length > 0;
}

/** The releases whose schema is in force, newest first. A release whose migrations were reverted does not count. */
async function releasesOf(dataSource: DataSource): Promise<SchemaRelease[]> {
  const releases = await dataSource.query<SchemaRelease[]>(
    `select release, oldest_release as "oldestRelease" from schema_releases
      where last_migration in (select name from migrations)`,
  );
  return releases.sort((one, other) => compareReleases(other.release, one.release));
}

/** Records that this release has migrated the database. @param lastMigration the last one of Lanyard itself */
export async function recordRelease(dataSource: DataSource, lastMigration: string): Promise<void> {
  const values = [version, OLDEST_RELEASE, lastMigration];
  const [row] = await dataSource.query<unknown[]>(
    'select from schema_releases where (release, oldest_release, last_migration) = ($1, $2, $3)',
    values,
  );
  // The role of a server may not be allowed to write to this table.
  if (row) return;
  await dataSource.query(
    `insert into schema_releases (release, oldest_release, last_migration) values ($1, $2, $3)
      on conflict (release) do update
        set oldest_release = excluded.oldest_release, last_migration = excluded.last_migration`,
    values,
  );
}

/** Returns a negative number if the first release is older. The rest of a pre-release version does not count. */
export function compareReleases(one: string, other: string): number {
  const [first = '', second = ''] = [one, other].map((release) => release.split('-')[0]);
  return first.localeCompare(second, 'en', { numeric: true });
}
