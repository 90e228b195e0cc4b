/**
 * Its module names entities, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IsNumber } from 'class-validator';
import { Column, type MigrationInterface, type QueryRunner } from 'typeorm';
import {
  BooleanField,
  Day,
  Decimal,
  JsonField,
  NumericId,
  OneOf,
  optionalNullable,
  Text,
  TextList,
  Uuid,
  UuidList,
} from '../../src/fields/fields';
import { feedResource, uuidKey } from '../../src/feed/changes/feed-resource';
import { withCsv } from '../../src/exchange/csv/csv-section';
import { json } from '../../src/data/database/rendering';
import { datasetOf } from '../../src/exchange/datasets/dataset';
import { defineExtension } from '../../src/extensions/extension';
import { decimalColumn, ListedUuidRow, RefersTo } from '../../src/data/schema/columns';
import { ListedEntity } from '../../src/data/schema/lists';
import { query } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { startInProcess } from '../support/lanyard';
import { Operator } from '../support/operator';

const STATES = ['OPEN', 'SOLD OUT'];
const nullable = { nullable: true };

@ListedEntity('tickets')
@RefersTo('OrganizationEntity', 'organizationId', 'tickets_organization_fkey')
class TicketEntity extends ListedUuidRow {
  @Column(decimalColumn({ precision: 10, scale: 2 })) price: number;
  @Column(decimalColumn({ precision: 20, scale: 4, nullable: true })) turnover: string | null;
  @Column('real', nullable) weight: number | null;
  @Column('double precision', nullable) ratio: number | null;
  @Column('bigint', nullable) serial: string | null;
  @Column('interval', nullable) duration: string | null;
  @Column('date', { array: true, nullable: true }) days: string[] | null;
  @Column('jsonb', nullable) extras: object | null;
  @Column('jsonb', { array: true, nullable: true }) notes: object[] | null;
  @Column('enum', { enum: STATES, enumName: 'ticket_state' }) state: string;
  @Column('enum', { enum: STATES, enumName: 'ticket_state', array: true, nullable: true }) states: string[] | null;
  @Column('uuid', { array: true, nullable: true }) seats: string[] | null;
  @Column('varchar', { length: 20, nullable: true }) code: string | null;
  @Column('boolean', nullable) isFree: boolean | null;
  @Column('date', nullable) day: string | null;
}

class TicketRecord {
  @Uuid() id: string;
  @Decimal({ precision: 10, scale: 2 }) price: number;
  @Decimal({ precision: 20, scale: 4, ...optionalNullable }) turnover?: string | null;
  @Decimal(optionalNullable) weight?: number | null;
  @Decimal(optionalNullable) ratio?: number | null;
  @NumericId(optionalNullable) serial?: number | null;
  @Text(optionalNullable) duration?: string | null;
  @TextList(optionalNullable) days?: string[] | null;
  @JsonField(optionalNullable) extras?: unknown;
  @JsonField(optionalNullable) notes?: unknown;
  @OneOf(STATES, 'TicketState') state: string;
  @TextList(optionalNullable) states?: string[] | null;
  @UuidList(optionalNullable) seats?: string[] | null;
  @Text({ max: 20, ...optionalNullable }) code?: string | null;
  @BooleanField(optionalNullable) isFree?: boolean | null;
  @Day(optionalNullable) day?: string | null;
}

class Tickets1600000000001 implements MigrationInterface {
  up = (db: QueryRunner): Promise<void> =>
    db.query(`create type ticket_state as enum ('OPEN', 'SOLD OUT');
      create table tickets (id uuid default uuid_v7() primary key, organization_id integer not null
          constraint tickets_organization_fkey references organizations on delete cascade, position bigint not null,
        created_at timestamptz(3) not null default now(), price numeric(10,2) not null, turnover numeric(20,4),
        weight real, ratio double precision, serial bigint, duration interval, days date[], extras jsonb,
        notes jsonb[], state ticket_state not null, states ticket_state[], seats uuid[], code varchar(20),
        is_free boolean, day date);
      create unique index tickets_list_idx on tickets (organization_id, position)`);

  down = (db: QueryRunner): Promise<void> => db.query('drop table tickets; drop type ticket_state');
}

@Module({ imports: [TypeOrmModule.forFeature([TicketEntity])] })
class TicketsModule {}

const RECORD_SQL = json<TicketRecord>({
  id: 'id',
  price: 'price',
  turnover: 'turnover::text',
  weight: 'weight',
  ratio: 'ratio',
  serial: 'serial',
  duration: 'duration',
  days: 'days',
  extras: 'extras',
  notes: 'notes',
  state: 'state',
  states: 'states',
  seats: 'seats',
  code: 'code',
  isFree: 'is_free',
  day: 'day',
});

const extension = defineExtension({
  migrations: [Tickets1600000000001],
  contexts: [
    {
      module: TicketsModule,
      sections: {
        tickets: withCsv(
          datasetOf(TicketRecord, TicketEntity, { key: 'id', noun: 'ticket', notExported: ['createdAt'] }),
        ),
      },
      feedResources: [
        feedResource(TicketEntity, {
          name: 'tickets',
          number: 1000,
          model: TicketRecord,
          recordSql: RECORD_SQL,
          key: uuidKey(randomUUID()),
        }),
      ],
    },
  ],
});

const FULL: TicketRecord = {
  id: randomUUID(),
  price: 19.95,
  turnover: '1234567890123456.7891',
  weight: 0.1,
  ratio: 1e300,
  serial: Number.MAX_SAFE_INTEGER,
  duration: '1 mon 2 days 03:04:05.5',
  days: ['2026-05-04', '0001-01-01'],
  extras: { list: [1, 'a "quoted" \\ text', null], nested: { price: 0.05 } },
  notes: [{ text: 'a, "b" {c} \\' }, ['x']],
  state: 'SOLD OUT',
  states: ['OPEN', 'SOLD OUT'],
  seats: [randomUUID(), randomUUID()],
  code: ' A\t1',
  isFree: false,
  day: '2026-12-31',
};
const EMPTY: TicketRecord = {
  id: randomUUID(),
  price: 0,
  turnover: null,
  weight: null,
  ratio: null,
  serial: null,
  duration: null,
  days: null,
  extras: null,
  notes: null,
  state: 'OPEN',
  states: null,
  seats: null,
  code: null,
  isFree: null,
  day: null,
};
const LARGE: TicketRecord = {
  ...EMPTY,
  id: randomUUID(),
  price: -99_999_999.99,
  turnover: '-9999999999999999.9999',
  days: [],
  extras: [],
  seats: [],
};
const TICKETS = [FULL, EMPTY, LARGE];

describe('every type of column', () => {
  let operator: Operator;
  let url: string;
  let organization: string[];

  const importJson = (tickets: object[], ...options: string[]) =>
    operator.run(['import', '-', ...organization, ...options, '--json'], JSON.stringify({ tickets }));
  const exportTickets = async () =>
    (await operator.json<{ tickets: TicketRecord[] }>(['export', ...organization])).tickets;
  const state = () => query(url, 'select *, xmin::text from tickets order by position');

  beforeAll(async () => {
    ({ url } = await createTestDatabase());
    operator = new Operator({ DATABASE_URL: url }, extension);
    const { id } = await operator.json<{ id: number }>(['organizations', 'create', '--name', 'Cobalt']);
    organization = ['--organization', String(id)];
    expect(await importJson(TICKETS)).toMatchObject({ status: 0, stderr: '' });
  });

  it('is exported as it was imported', async () => {
    expect(await exportTickets()).toEqual(TICKETS);
    expect(await query(url, 'select price::text, turnover::text from tickets order by position')).toEqual([
      { price: '19.95', turnover: '1234567890123456.7891' },
      { price: '0.00', turnover: null },
      { price: '-99999999.99', turnover: '-9999999999999999.9999' },
    ]);
  });

  it('is in the change feed as it is in an export', async () => {
    const changes = await operator.json<{ record: object }[]>(['changes', ...organization]);
    expect(changes.map(({ record }) => record)).toEqual(TICKETS);
  });

  it('is unchanged by a second import', async () => {
    const before = await state();
    const { stdout } = await importJson(await exportTickets());
    expect(JSON.parse(stdout)).toMatchObject({ outcomes: { tickets: { created: 0, updated: 0, unchanged: 3 } } });
    expect(await state()).toEqual(before);
  });

  it('is unchanged by an import of an export as CSV', async () => {
    const before = await state();
    const { stdout: csv } = await operator.run(['export', '--csv', 'tickets', ...organization]);
    expect(csv).toContain('19.95');
    const { stdout, stderr } = await operator.run(['import', '-', '--csv', 'tickets', ...organization, '--json'], csv);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ outcomes: { tickets: { created: 0, updated: 0, unchanged: 3 } } });
    expect(await state()).toEqual(before);
  });

  it('is updated by an import that changes it, and merged from repeated rows', async () => {
    const id = randomUUID();
    const csv = `id,price,state,states\n${id},1.5,OPEN,\n${id},1.5,OPEN,OPEN; SOLD OUT\n`;
    const merge = ['import', '-', '--csv', 'tickets', ...organization, '--repeated', 'merge', '--json'];
    const { stdout } = await operator.run(merge, csv);
    expect(JSON.parse(stdout)).toMatchObject({ imported: { tickets: 1 } });
    expect((await exportTickets()).at(-1)).toMatchObject({ id, price: 1.5, states: ['OPEN', 'SOLD OUT'] });
    await importJson([{ ...EMPTY, id, price: 1.25, state: 'SOLD OUT' }]);
    expect((await exportTickets()).at(-1)).toEqual({ ...EMPTY, id, price: 1.25, state: 'SOLD OUT' });
    await query(url, `delete from tickets where id = '${id}'`);
  });

  it.each([
    [{ price: 19.955 }, 'a number with at most 2 decimals, from -99999999.99 to 99999999.99'],
    [{ price: 100_000_000 }, 'a number with at most 2 decimals, from -99999999.99 to 99999999.99'],
    [{ price: '19.95' }, 'a number with at most 2 decimals, from -99999999.99 to 99999999.99'],
    [{ turnover: 19.95 }, 'a text such as "19.95", with at most 16 digits before the point and 4 after it'],
    [{ turnover: '1.23456' }, 'a text such as "19.95", with at most 16 digits before the point and 4 after it'],
    [{ extras: 'a\u0000b' }, 'text without NUL and unpaired surrogates'],
  ])('has nothing rounded: %j is an error', async (change, expected) => {
    const before = await state();
    const { status, stdout } = await importJson([{ ...FULL, ...change }]);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ errors: [{ path: `tickets[0].${Object.keys(change)[0]}`, expected }] });
    expect(await state()).toEqual(before);
  });
});

class PlainRecord {
  @Uuid() id: string;
  @IsNumber() price: number;
  @Decimal({ precision: 9, scale: 1 }) turnover: number;
}

it('a record with a field that an import would drop or round is an error at the start, for commands and servers', async () => {
  const notExported = 'createdAt weight ratio serial duration days extras notes states seats code isFree'.split(' ');
  const dataset = { record: PlainRecord, entity: TicketEntity, key: 'id', noun: 'ticket', notExported };
  const broken = { ...extension, contexts: [{ module: TicketsModule, sections: { tickets: dataset } }] };
  const { url } = await createTestDatabase();
  await new Operator({ DATABASE_URL: url }, extension).json(['migrate']);
  const message = `An import would drop PlainRecord.price: declare it with a decorator of Lanyard such as @Text() or @Decimal().
PlainRecord has no field for TicketEntity.price, without which no row can be stored.
PlainRecord has no field for TicketEntity.state, without which no row can be stored.
PlainRecord has no field for TicketEntity.day, so an export would lose it. Declare the field, or write notExported: ['day'] next to key: 'id'.
PlainRecord.turnover cannot have each value of TicketEntity.turnover unrounded. Use @Decimal({ precision: 20, scale: 4 }).`;
  const { status, stderr } = await new Operator({ DATABASE_URL: url }, broken).run(['export', '--organization', '1']);
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${message}\n` });
  await expect(startInProcess({ databaseUrl: url }, undefined, broken)).rejects.toThrow(message);
});
