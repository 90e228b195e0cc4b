/**
 * Its module names an entity, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, type MigrationInterface, type QueryRunner, Unique } from 'typeorm';
import { Text, Uuid } from '../../src/fields/fields';
import { feedResource, uuidKey } from '../../src/feed/changes/feed-resource';
import { MAX_CHANGES } from '../../src/feed/changes/changes.sql';
import { json } from '../../src/data/database/rendering';
import { datasetOf } from '../../src/exchange/datasets/dataset';
import { dataSource } from '../../src/start/data-source';
import { defineExtension } from '../../src/extensions/extension';
import { ListedUuidRow, RefersTo } from '../../src/data/schema/columns';
import { ListedEntity } from '../../src/data/schema/lists';
import { query, type TestDatabase } from '../../src/testing/test-database';
import { createDatabase, createTestDatabase } from '../support/database';
import { Operator } from '../support/operator';

@ListedEntity('halls')
@Unique('halls_organization_id_key', ['organizationId', 'id'])
@RefersTo('OrganizationEntity', 'organizationId', 'halls_organization_fkey')
class HallEntity extends ListedUuidRow {
  @Column('text') name: string;
}

/** Each hall has a list of its own. */
@ListedEntity('seats', { parent: { table: 'halls', property: 'hallId', type: 'uuid' } })
@RefersTo('HallEntity', 'hallId', 'seats_hall_fkey')
class SeatEntity extends ListedUuidRow {
  @Column('uuid') hallId: string;
}

/** Older than each of Lanyard's migrations, as it is when a project upgrades Lanyard. */
class Halls1600000000000 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table halls (
        id uuid default uuid_v7() constraint halls_pkey primary key,
        organization_id integer not null,
        position bigint not null,
        created_at timestamptz(3) not null default now(),
        name text not null,
        constraint halls_organization_id_key unique (organization_id, id),
        constraint halls_organization_fkey foreign key (organization_id) references organizations (id) on delete cascade
      );
      create unique index halls_list_idx on halls (organization_id, position);
      create table seats (
        id uuid default uuid_v7() constraint seats_pkey primary key,
        organization_id integer not null,
        hall_id uuid not null,
        position bigint not null,
        created_at timestamptz(3) not null default now(),
        constraint seats_hall_fkey foreign key (organization_id, hall_id)
          references halls (organization_id, id) on delete cascade
      );
      create unique index seats_list_idx on seats (organization_id, hall_id, position)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('drop table seats, halls');
  }
}

class HallRecord {
  @Uuid() id: string;
  @Text() name: string;
}

class SeatRecord {
  @Uuid() id: string;
  @Uuid() hallId: string;
}

@Module({ imports: [TypeOrmModule.forFeature([HallEntity, SeatEntity])] })
class HallsModule {}

const extension = defineExtension({
  modules: [HallsModule],
  migrations: [Halls1600000000000],
  contexts: [
    {
      module: HallsModule,
      sections: {
        halls: datasetOf(HallRecord, HallEntity, { key: 'id', noun: 'hall', notExported: ['createdAt'] }),
        seats: datasetOf(SeatRecord, SeatEntity, { key: 'id', noun: 'seat', notExported: ['createdAt'] }),
      },
      feedResources: [
        feedResource(HallEntity, {
          name: 'halls',
          number: 1000,
          model: HallRecord,
          recordSql: json<HallRecord>({ id: 'id', name: 'name' }),
          key: uuidKey(randomUUID()),
        }),
        feedResource(SeatEntity, {
          name: 'seats',
          number: 1001,
          model: SeatRecord,
          recordSql: json<SeatRecord>({ id: 'id', hallId: 'hall_id' }),
          key: uuidKey(randomUUID()),
        }),
      ],
    },
  ],
});

/** With the migrations of the extension, which take a second. */
let template: TestDatabase;
beforeAll(async () => {
  template = await createTestDatabase();
  await new Operator({ DATABASE_URL: template.url }, extension).json(['migrate']);
});

const migrationNames = async (url: string): Promise<unknown[]> =>
  (await query(url, 'select name from migrations order by id')).map(({ name }) => name);

describe('the migrations of an extension', () => {
  it('run after those of Lanyard, whatever their timestamps are', async () => {
    const { url } = await createDatabase();
    const { applied } = await new Operator({ DATABASE_URL: url }, extension).json<{ applied: string[] }>(['migrate']);
    expect(applied.length).toBeGreaterThan(1);
    expect(applied.at(-1)).toBe('Halls1600000000000');
    expect(await migrationNames(url)).toEqual(applied);
  });

  it('run once on a database that has newer migrations of Lanyard, and are no sign of another release', async () => {
    const { url } = await createTestDatabase();
    const extended = new Operator({ DATABASE_URL: url }, extension);
    expect(await extended.json(['status'])).toMatchObject({ migrations: { pending: ['Halls1600000000000'] } });
    expect(await extended.json(['migrate'])).toEqual({ applied: ['Halls1600000000000'] });
    expect(await extended.json(['migrate'])).toEqual({ applied: [] });
    expect(await extended.json(['status'])).toMatchObject({ migrations: { pending: [] }, organizations: 0 });
  });

  it('are in a backup, and are restored with it', async () => {
    const [source, target] = [await createTestDatabase(template), await createDatabase()];
    const folder = mkdtempSync(join(tmpdir(), 'lanyard-backup-'));
    try {
      const file = join(folder, 'backup.gz');
      const extended = new Operator({ DATABASE_URL: source.url }, extension);
      const { id } = await extended.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
      const halls = [{ id: randomUUID(), name: 'North' }];
      await extended.json(['import', '-', '--organization', String(id)], JSON.stringify({ halls }));
      await extended.run(['backup', file]);
      const restoring = new Operator({ DATABASE_URL: target.url }, extension);
      expect(await restoring.run(['restore', file])).toMatchObject({ status: 0, stderr: '' });
      expect(await query(target.url, 'select id, name from halls')).toEqual(halls);
      expect(await migrationNames(target.url)).toEqual(await migrationNames(source.url));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are reverted and generated with the data source for the command line of TypeORM', async () => {
    const { url } = await createTestDatabase(template);
    const before = process.env.DATABASE_URL;
    process.env.DATABASE_URL = url;
    const source = await dataSource(extension);
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await source.initialize();
    try {
      const sql = async () => (await source.driver.createSchemaBuilder().log()).upQueries.map(({ query }) => query);
      expect(await sql()).toEqual([]);
      await source.undoLastMigration();
      expect(await query(url, `select to_regclass('halls') as halls`)).toEqual([{ halls: null }]);
      expect(await sql()).toContainEqual(expect.stringContaining('CREATE TABLE "halls"'));
    } finally {
      await source.destroy();
    }
  });
});

describe('Lanyard without the extension, on its database,', () => {
  const plain = (url: string, ...args: string[]) => new Operator({ DATABASE_URL: url }).spawn(args);
  const triggersOf = (url: string) =>
    query(url, `select tgname from pg_trigger where tgrelid = 'halls'::regclass order by 1`);

  it('leaves its functions and triggers alone', async () => {
    const { url } = await createTestDatabase(template);
    const before = await triggersOf(url);
    expect(before.length).toBeGreaterThan(2);
    expect(await plain(url, 'migrate')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(
        'does not have (Halls1600000000000). Its functions and triggers are left',
      ) as string,
    });
    expect(await triggersOf(url)).toEqual(before);
    await query(url, 'drop trigger t60_change_inserted on leads');
    expect(await plain(url, 'check', '--repair')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(
        'belong to another release of Lanyard, or to an extension. Repair them',
      ) as string,
    });
  });

  it('does not upgrade it', async () => {
    const { url } = await createTestDatabase(template);
    await query(url, `update schema_releases set release = '0.1.9'`);
    expect(await plain(url, 'migrate')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Upgrade the database with the program of the extension') as string,
    });
    expect(await new Operator({ DATABASE_URL: url }, extension).json(['migrate'])).toEqual({ applied: [] });
  });
});

it('the migrations of an extension are reverted before it is removed, whatever ran after them', async () => {
  const { url } = await createTestDatabase(template);
  const extended = new Operator({ DATABASE_URL: url }, extension);
  const { id } = await extended.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
  const organization = ['--organization', String(id)];
  const halls = [{ id: randomUUID(), name: 'North' }];
  await extended.json(['import', '-', ...organization], JSON.stringify({ halls }));
  const later = `insert into migrations (timestamp, name) values (1900000000000, 'Later1900000000000')`;
  await query(url, later);
  expect(await extended.json(['migrate', '--revert-extension'])).toEqual({ reverted: ['Halls1600000000000'] });
  expect(await extended.json(['migrate', '--revert-extension'])).toEqual({ reverted: [] });

  await query(url, `delete from migrations where name = 'Later1900000000000'`);
  // In a process that does not have the extension's entities.
  const plain = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await new Operator({ DATABASE_URL: url }).spawn([...args, '--json'])).stdout);
  expect(await plain('migrate')).toEqual({ applied: [] });
  expect(await plain('check')).toMatchObject({ lists: { wrong: 0 }, triggers: { wrong: 0 } });
  expect(await plain('changes', ...organization)).toEqual([]);
  await extended.json(['import', '-', ...organization], JSON.stringify({ halls }));
  expect(await extended.json(['check'])).toMatchObject({ lists: { wrong: 0 } });
});

describe('the commands of an extension', () => {
  it('import, export, check and delete its records, and know its resources', async () => {
    const { url } = await createTestDatabase(template);
    const operator = new Operator({ DATABASE_URL: url }, extension);
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
    const organization = ['--organization', String(id)];
    const halls = [
      { id: randomUUID(), name: 'North' },
      { id: randomUUID(), name: 'South' },
    ];
    const imported = await operator.json(['import', '-', ...organization], JSON.stringify({ halls }));
    expect(imported).toMatchObject({ imported: { halls: 2 } });
    expect(await operator.json(['export', ...organization])).toMatchObject({ halls });

    await query(url, `delete from list_counts where list = 'halls'`);
    const { status, stderr } = await operator.run(['check', '--repair']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });

    const webhook = ['webhooks', 'create', ...organization, '--url', 'https://receiver.example/'];
    expect(await operator.json([...webhook, '--resources', 'halls'])).toMatchObject({ resources: ['halls'] });
    const { stderr: refusal } = await new Operator({ DATABASE_URL: url }).run([...webhook, '--resources', 'halls']);
    expect(refusal).toMatch(/--resources must be a comma-separated list of /);

    await operator.json(['organizations', 'delete', String(id), '--confirm', 'Cobalt']);
    expect(await query(url, 'select from halls')).toEqual([]);
  });

  it('name the record, and its field, by which an import breaks a constraint of a table', async () => {
    const { url } = await createTestDatabase(template);
    const operator = new Operator({ DATABASE_URL: url }, extension);
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
    await query(url, 'alter table halls add unique (organization_id, name), add check (length(name) < 10)');
    await query(url, 'create unique index seats_row_idx on seats (organization_id, hall_id, (position is null))');
    const run = (records: object) =>
      operator.run(['import', '-', '--json', '--organization', String(id)], JSON.stringify(records));
    const hall = (name: string) => ({ id: randomUUID(), name });
    const [north, south] = [hall('North'), hall('South')];
    expect(await run({ halls: [north, south] })).toMatchObject({ status: 0 });

    const errorOf = async (...halls: object[]): Promise<unknown> => {
      const { status, stdout } = await run({ halls });
      expect(status).toBe(1);
      return (JSON.parse(stdout) as { errors: object[] }).errors;
    };
    const unique = 'halls_organization_id_name_key';
    const taken = (path: string, value: string) => [
      { line: null, column: null, path, value, expected: `a record that the constraint ${unique} accepts` },
    ];
    expect(await errorOf(hall('West'), hall('North'))).toEqual(taken('halls[1].name', 'North'));
    expect(await errorOf(hall('West'), hall('East'), hall('West'))).toEqual(taken('halls[2].name', 'West'));
    expect(await errorOf({ ...north, name: 'South' })).toEqual(taken('halls[0].name', 'South'));
    expect(await errorOf(hall('West'), hall('Northern Hall'))).toEqual([
      expect.objectContaining({ path: 'halls[1].name', value: 'Northern Hall' }),
    ]);
    const words = await operator.run(
      ['import', '-', '--organization', String(id)],
      JSON.stringify({ halls: [hall('North')] }),
    );
    expect(words.stderr).toContain(`halls[0].name: The constraint ${unique} rejects "North".`);
    // The file does not say what the position of a seat is.
    const seat = { id: randomUUID(), hallId: north.id };
    const { stderr } = await operator.run(
      ['import', '-', '--organization', String(id)],
      JSON.stringify({ seats: [seat, { ...seat, id: randomUUID() }] }),
    );
    expect(stderr).toContain('seats_row_idx');
  });

  it('emit a snapshot of lists whose parent is a uuid, page by page', async () => {
    const { url } = await createTestDatabase(template);
    const operator = new Operator({ DATABASE_URL: url }, extension);
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
    const organization = ['--organization', String(id)];
    expect(await operator.json(['changes', ...organization])).toEqual([]);

    const halls = ['North', 'South', 'East'].map((name) => ({ id: randomUUID(), name }));
    // The list of each hall continues on another page.
    const seats = halls.flatMap(({ id: hallId }) =>
      Array.from({ length: MAX_CHANGES }, () => ({ id: randomUUID(), hallId })),
    );
    await operator.json(['import', '-', ...organization], JSON.stringify({ halls, seats }));
    const changes = await operator.json<{ resource: string; record: SeatRecord }[]>(['changes', ...organization]);
    const records = changes.filter(({ resource }) => resource === 'seats').map(({ record }) => record);
    expect(records).toHaveLength(seats.length);
    expect(new Set(records.map(({ id }) => id))).toEqual(new Set(seats.map(({ id }) => id)));
  });
});
