/**
 * Its modules name entities, which the suites of a shared process would take for Lanyard's own.
 * @jest-environment node
 */
import { Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, Entity, ManyToOne, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { defineExtension, type Extension, extensionSchema } from '../../src/extensions/extension';
import { migrate } from '../../src/data/schema/migrate';
import { ListedEntity } from '../../src/data/schema/lists';
import { ListedUuidRow } from '../../src/data/schema/columns';
import { query } from '../../src/testing/test-database';
import { createTestDatabase } from '../support/database';
import { Operator } from '../support/operator';

@Entity('orders')
class OrderEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('int') organizationId: number;
}

@Entity('order_lines')
class OrderLineEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('int') organizationId: number;
  @ManyToOne(() => OrderEntity, { createForeignKeyConstraints: false }) order: OrderEntity;
}

@ListedEntity('coupons')
class CouponEntity extends ListedUuidRow {}

const moduleOf = (...entities: Type[]) => {
  @Module({ imports: [TypeOrmModule.forFeature(entities)] })
  class ShopModule {}
  return ShopModule;
};

const OWNED = 'organization_id int not null references organizations on delete cascade';
const ORDERS = `create table orders (id uuid primary key, ${OWNED})`;
const KEYED_ORDERS = `${ORDERS}; alter table orders add unique (organization_id, id)`;

const extensionOf = (sql: string, { modules = [], unscopedTables }: Extension = {}): Extension =>
  defineExtension({
    modules,
    unscopedTables,
    migrations: [
      class Shop1600000000000 implements MigrationInterface {
        up = (db: QueryRunner): Promise<void> => db.query(sql) as Promise<void>;
        down = (): Promise<void> => Promise.resolve();
      },
    ],
  });

/** What a start says. The command says the same. */
async function startError(url: string, extension: Extension): Promise<string> {
  const error = await migrate(url, extensionSchema(extension)).catch((thrown: Error) => thrown);
  const { status, stderr } = await new Operator({ DATABASE_URL: url }, extension).run(['migrate']);
  if (!(error instanceof Error)) {
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return '';
  }
  expect(status).toBe(1);
  expect(stderr).toContain(error.message);
  return error.message;
}

const linesIn = (message: string): string[] => message.match(/^ {2}[^@\n]+$/gm) ?? [];

describe('a table of an extension that does not keep organizations apart', () => {
  it.each([
    [
      'a foreign key without the organization',
      `${ORDERS}; create table order_lines (id uuid primary key, ${OWNED},
        order_id uuid not null constraint lines_order_fkey references orders on delete set null)`,
      'The foreign key lines_order_fkey lets a row of order_lines refer to another organization',
      [
        '  alter table orders add unique (organization_id, id);',
        '  alter table order_lines drop constraint lines_order_fkey, add constraint lines_order_fkey',
        '    foreign key (organization_id, order_id) references orders (organization_id, id) on delete set null (order_id);',
      ],
    ],
    [
      'a foreign key to a table of Lanyard without the organization',
      `create table order_lines (id uuid primary key, ${OWNED}, "leadId" uuid references leads)`,
      "refer to another organization's row of leads",
      [
        '  alter table order_lines drop constraint "order_lines_leadId_fkey", add constraint "order_lines_leadId_fkey"',
        '    foreign key (organization_id, "leadId") references leads (organization_id, id) on delete no action;',
      ],
    ],
    [
      'a child without an organization',
      `${KEYED_ORDERS}; create table order_lines (id uuid primary key, order_id uuid not null references orders on delete cascade)`,
      'order_lines refers to orders, whose rows belong to organizations, and has no organization_id',
      [
        '  alter table order_lines add organization_id integer;',
        '  update order_lines set organization_id = orders.organization_id from orders where orders.id = order_lines.order_id;',
        '  alter table order_lines alter organization_id set not null;',
        '  alter table order_lines drop constraint order_lines_order_id_fkey, add constraint order_lines_order_id_fkey',
        '    foreign key (organization_id, order_id) references orders (organization_id, id) on delete cascade;',
      ],
    ],
    [
      'rows that stay when their organization is deleted',
      `create table order_lines (id uuid primary key, organization_id int not null)`,
      '"organizations delete" leaves the rows of order_lines',
      [
        '  alter table order_lines add constraint order_lines_organization_fkey',
        '    foreign key (organization_id) references organizations (id) on delete cascade;',
      ],
    ],
    [
      'a foreign key to the organization that does not delete',
      `create table order_lines (id uuid primary key, organization_id int not null constraint lines_owner_fkey references organizations)`,
      '"organizations delete" leaves the rows of order_lines',
      [
        '  alter table order_lines drop constraint lines_owner_fkey, add constraint lines_owner_fkey',
        '    foreign key (organization_id) references organizations (id) on delete cascade;',
      ],
    ],
    [
      'rows whose parent may be null',
      `${KEYED_ORDERS}; create table order_lines (id uuid primary key, organization_id int not null, order_id uuid,
        foreign key (organization_id, order_id) references orders (organization_id, id) on delete cascade)`,
      '"organizations delete" leaves the rows of order_lines',
      [
        '  alter table order_lines add constraint order_lines_organization_fkey',
        '    foreign key (organization_id) references organizations (id) on delete cascade;',
      ],
    ],
  ])('is an error at start and in migrate, with the lines to write: %s', async (_, sql, problem, lines) => {
    const { url } = await createTestDatabase();
    const extension = extensionOf(sql);
    const message = await startError(url, extension);
    expect(message).toContain(problem);
    expect(linesIn(message)).toEqual(lines);
    expect(message).toContain('name its table in unscopedTables of defineExtension()');

    expect(await startError(url, { ...extension, unscopedTables: ['order_lines'] })).toBe('');
    await query(url, lines.join('\n'));
    expect(await startError(url, extension)).toBe('');
  });

  it('is none whose rows are deleted with their parents, or belong to nobody', async () => {
    const { url } = await createTestDatabase();
    const sql = `${KEYED_ORDERS};
      create table order_lines (id uuid primary key, organization_id int not null, order_id uuid not null,
        foreign key (organization_id, order_id) references orders (organization_id, id) on delete cascade);
      create table currencies (code text primary key);
      create table rates (code text references currencies, rate numeric)`;
    expect(await startError(url, extensionOf(sql))).toBe('');
  });

  it('concerns only the program of the extension', async () => {
    const { url } = await createTestDatabase();
    const kept = 'create table order_lines (id uuid primary key, organization_id int not null)';
    expect(await startError(url, extensionOf(kept, { unscopedTables: ['order_lines'] }))).toBe('');
    expect((await new Operator({ DATABASE_URL: url }, {}).run(['migrate'])).status).toBe(0);
  });

  // TypeOrmModule keeps the entities of a module for as long as the process lives, so these stand at the end.
  it('is found by a relation of its entity, too, which has no foreign key', async () => {
    const { url } = await createTestDatabase();
    const lines = `create table order_lines (id uuid primary key, ${OWNED}, order_id uuid)`;
    const extension = extensionOf(`${KEYED_ORDERS}; ${lines}`, { modules: [moduleOf(OrderEntity, OrderLineEntity)] });
    const message = await startError(url, extension);
    expect(message).toContain('No foreign key holds what order_lines refers to in orders');
    await query(url, linesIn(message).join('\n'));
    expect(await startError(url, extension)).toBe('');
  });
});

it.each([OrderLineEntity, CouponEntity])(
  'an entity without a table is an error that says what to run: $name',
  async (entity) => {
    const { url } = await createTestDatabase();
    const message = await startError(url, extensionOf('select 1', { modules: [moduleOf(entity)] }));
    expect(message).toMatch(
      new RegExp(`^No migration creates the table of .*${entity.name} yet: run migration:generate.$`),
    );
  },
);
