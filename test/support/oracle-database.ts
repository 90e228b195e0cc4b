import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OrganizationsService } from '../../src/access/organizations.service';
import { ImportService } from '../../src/exchange/datasets/import.service';
import { createExhibitor, industryEventInput } from './builders';
import { operatorServices } from './operator-services';
import { UNSCOPED } from './oracle';

/**
 * A row that a statement meets must belong to whom the statement speaks for. PostgreSQL tries a condition that is cheap
 * and tells nothing by failing, as `organization_id = $1` is, before this one: so rows that a scoped statement leaves out
 * never come here, however it finds them, and those of an unscoped one do.
 */
const ALLOWS = `
  create function oracle_allows(of_table text, organization integer) returns boolean language plpgsql stable cost 10000
  as $$
  declare
    speaker constant text := current_setting('lanyard.oracle', true);
  begin
    if speaker = '*' or speaker = organization::text then
      return true;
    end if;
    raise exception 'a statement for % met a row of organization % in %', coalesce(speaker, 'nobody'), organization, of_table
      using errcode = '${UNSCOPED}';
  end $$`;

/** Every table that says whose its rows are, but the one by which a key's organization is found. */
const SCOPED = `
  select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_name)
  where c.table_schema = 'public' and t.table_schema = 'public' and t.table_type = 'BASE TABLE'
    and c.column_name = 'organization_id' and c.table_name <> 'api_keys'
  order by c.table_name`;

/** Lists of everybody are kept under the organization 0. */
const policy = (table: string): string => {
  const allowed = `${/^lists$|^list_counts$/.test(table) ? 'organization_id = 0 or ' : ''}oracle_allows('${table}', organization_id)`;
  return `
    alter table ${table} enable row level security;
    create policy oracle on ${table} using (${allowed}) with check (${allowed});`;
};

/**
 * Prepares a migrated database, so that it and its clones can be entered as a role that the oracle watches. The role
 * owns nothing, and is this run's own, because roles belong to the whole server.
 */
export async function armOracle(url: string): Promise<{ role: string; password: string }> {
  const [role, password] = [`lanyard_oracle_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')];
  const services = await operatorServices(url);
  const db = services.get(DataSource);
  try {
    await seedDecoy(services);
    await db.query(`create role ${role} login password '${password}'`);
    await db.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await db.query(ALLOWS);
    for (const table of await scopedTables(db)) await db.query(policy(table));
  } finally {
    await services.close();
  }
  return { role, password };
}

export const scopedTables = async (db: DataSource): Promise<string[]> =>
  (await db.query<{ name: string }[]>(SCOPED)).map(({ name }) => name);

/** Another organization with a row in each table: without one, an unscoped statement would meet nothing. */
async function seedDecoy(services: INestApplicationContext): Promise<void> {
  const db = services.get(DataSource);
  const { id } = await services.get(OrganizationsService).create('Decoy');
  const industryEvents = [{ ...industryEventInput({ name: 'Decoy', keywords: [] }), isBookmarked: true }];
  await services.get(ImportService).import(id, { ...createExhibitor().dataset, industryEvents });
  await db.query(
    `insert into feed_readers (id, organization_id, url, resources, cursor, ends_snapshot, secret, disabled_at)
      values (uuid_v7(), $1, '', '{}', '', false, '', now())`,
    [id],
  );
  await db.query(`insert into cursor_positions (organization_id, hash, positions) values ($1, '', '')`, [id]);
  for (const table of await scopedTables(db)) {
    const [row] = await db.query<object[]>(`select from ${table} where organization_id = $1 limit 1`, [id]);
    if (row) continue;
    throw new Error(
      `No record of ${table}, so that the oracle could not bite there: createExhibitor() of builders.ts makes one`,
    );
  }
}
