/**
 * Its module names entities, which the suites of a shared process would take for one of Lanyard's own.
 * @jest-environment node
 */
import { Body, Controller, Delete, Get, Module, Param, Patch, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsNumber, IsOptional, IsString } from 'class-validator';
import { Column, DataSource, JoinColumn, LessThan, ManyToOne, OneToMany, type Repository } from 'typeorm';
import { repositoryFor } from '../../src/data/database/repository-for';
import { decimalColumn, ListedUuidRow } from '../../src/data/schema/columns';
import { ListedEntity } from '../../src/data/schema/lists';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { type PlainServer, startWithModules } from '../support/plain-modules';

/** What a team builds first: products, and orders of them. */
@ListedEntity('products')
class Product extends ListedUuidRow {
  @Column('text') name: string;
  @Column(decimalColumn({ precision: 10, scale: 2 })) price: number;
  @Column(decimalColumn({ precision: 20, scale: 2, nullable: true })) turnover: string | null;
  @Column('int', { nullable: true }) stock: number | null;
  @Column('smallint', { nullable: true }) shelf: number | null;
  @Column('text', { nullable: true }) code: string | null;
}

@ListedEntity('orders')
class Order extends ListedUuidRow {
  @Column('text') customer: string;
  @OneToMany(() => OrderLine, ({ order }) => order, { cascade: true }) lines: OrderLine[];
}

@ListedEntity('order_lines', { parent: { table: 'orders', property: 'orderId', type: 'uuid' } })
class OrderLine extends ListedUuidRow {
  @Column('uuid') orderId: string;
  @Column('uuid', { nullable: true }) productId: string | null;
  @Column('int') quantity: number;
  @ManyToOne(() => Order, ({ lines }) => lines, { onDelete: 'CASCADE' })
  @JoinColumn([
    { name: 'organization_id', referencedColumnName: 'organizationId' },
    { name: 'order_id', referencedColumnName: 'id' },
  ])
  order: Order;
  @ManyToOne(() => Product, { nullable: true, cascade: true, onDelete: 'CASCADE' })
  @JoinColumn([
    { name: 'organization_id', referencedColumnName: 'organizationId' },
    { name: 'product_id', referencedColumnName: 'id' },
  ])
  product?: Product | null;
}

class ProductDto {
  @IsOptional() name: string;
  @IsOptional() @IsNumber() price: number;
  @IsOptional() turnover: string;
  @IsOptional() @IsNumber() stock: number;
  @IsOptional() @IsNumber() shelf: number;
  @IsOptional() code: string;
}

class LineDto {
  @IsString() orderId: string;
  @IsNumber() quantity: number;
}

@Controller('products')
class ProductsController {
  constructor(
    @InjectRepository(Product) private readonly products: Repository<Product>,
    @InjectRepository(OrderLine) private readonly lines: Repository<OrderLine>,
  ) {}

  @Post('lines')
  order(@CurrentCaller() caller: Caller, @Body() body: LineDto) {
    return repositoryFor(caller, this.lines).save(body);
  }

  @Delete(':id')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    await repositoryFor(caller, this.products).delete({ id });
  }

  @Post()
  save(@CurrentCaller() caller: Caller, @Body() body: ProductDto) {
    return repositoryFor(caller, this.products).save(body);
  }

  @Post('plain')
  savePlain(@CurrentCaller() { organizationId }: Caller, @Body() body: ProductDto) {
    return this.products.save({ ...body, organizationId });
  }

  @Post('insert')
  async insert(@CurrentCaller() caller: Caller, @Body() body: ProductDto) {
    return (await repositoryFor(caller, this.products).insert([body])).identifiers;
  }

  @Patch(':id')
  async update(@CurrentCaller() caller: Caller, @Param('id') id: string, @Body() body: ProductDto) {
    await repositoryFor(caller, this.products).update({ id }, body);
    return repositoryFor(caller, this.products).findOneByOrFail({ id });
  }

  @Get('below/:price')
  below(@CurrentCaller() caller: Caller, @Param('price') price: string) {
    return repositoryFor(caller, this.products).findBy({ price: LessThan(Number(price)) });
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Product, Order, OrderLine])], controllers: [ProductsController] })
class ShopModule {}

const TABLES = `
  create table products (id uuid default uuid_v7() primary key, organization_id int not null references organizations on delete cascade,
    position bigint, created_at timestamptz(3) not null default now(), name text not null, price numeric(10, 2) not null,
    turnover numeric(20, 2), stock int, shelf smallint, code text check (code <> ''), check (turnover > price), unique (organization_id, id));
  create unique index products_code_key on products (organization_id, lower(code));
  create table reviews (organization_id int not null, product_id uuid not null,
    foreign key (organization_id, product_id) references products (organization_id, id) on delete restrict);
  create table orders (id uuid default uuid_v7() primary key, organization_id int not null references organizations on delete cascade,
    position bigint, created_at timestamptz(3) not null default now(), customer text not null, unique (organization_id, id));
  create table order_lines (id uuid default uuid_v7() primary key, organization_id int not null, order_id uuid not null, product_id uuid,
    position bigint, created_at timestamptz(3) not null default now(), quantity int not null,
    foreign key (organization_id, order_id) references orders (organization_id, id) on delete cascade,
    foreign key (organization_id, product_id) references products (organization_id, id) on delete cascade)`;

let server: PlainServer;
let database: DataSource;
let caller: Caller;
beforeAll(async () => {
  server = await startWithModules([ShopModule]);
  database = server.app.get(DataSource);
  await database.query(TABLES);
  caller = { organizationId: server.organizationId, keyId: '' };
});

const rowsOf = <T extends ListedUuidRow>(type: new () => T) => repositoryFor(caller, database.getRepository(type));

const send = (method: string, path: string, body?: object) => server.send(method, path, { body });
const product = (fields: object = {}) => ({ name: 'Badge', price: 42.1, ...fields });

describe('a number that a column cannot hold as it is', () => {
  beforeEach(() => database.query('delete from products'));

  it.each([
    ['price', 42.105],
    ['price', 1e-7],
    ['price', 100_000_000],
    ['turnover', '12345678901234567.891'],
    ['turnover', '1e-3'],
    ['turnover', '1234567890123456789'],
    ['turnover', 0.001],
    ['stock', 2_147_483_648],
    ['stock', 1.5],
    ['shelf', 40_000],
  ])('%s: %s is a 400 that names the field, on every path', async (field, value) => {
    const { id } = (await send('POST', '/products', product())).body!.results as Product;
    const before = await database.query('select * from products');
    const invalid = product({ [field]: value });
    for (const [method, path, body] of [
      ['POST', '/products', invalid],
      ['POST', '/products', { id, ...invalid }],
      ['POST', '/products/plain', invalid],
      ['POST', '/products/insert', invalid],
      ['PATCH', `/products/${id}`, { [field]: value }],
    ] as const) {
      const { status, body: sent, headers } = await send(method, path, body);
      expect({ path, status, sent }).toEqual({
        path,
        status: 400,
        sent: { status: 400, error: `Missing or invalid '${field}'` },
      });
      expect(headers.get('Lanyard-Fault')).toBe(`body ${field}`);
      expect(headers.get('Lanyard-Fault-Reason')).toBe('range');
    }
    expect(await database.query('select * from products')).toEqual(before);
  });

  it('is nothing that the column does hold, and the response shows what is stored', async () => {
    const exact = { price: 99_999_999.99, turnover: '999999999999999999.99', stock: -2_147_483_648, shelf: 32_767 };
    const { status, body } = await send('POST', '/products', product(exact));
    expect({ status, results: body?.results }).toMatchObject({ status: 200, results: exact });
    const [stored] = await database.getRepository(Product).find();
    expect(stored).toMatchObject(exact);
    expect((await send('POST', '/products', product({ price: 0.1 + 0.2 }))).status).toBe(400);
    expect((await send('POST', '/products', product({ price: 1.1, turnover: '7.50' }))).status).toBe(200);
  });

  it('may be compared with', async () => {
    await send('POST', '/products', product());
    expect((await send('GET', '/products/below/42.105')).body).toMatchObject({ results: [{ price: 42.1 }] });
  });
});

describe('a row that breaks a constraint', () => {
  const UNKNOWN = '0197f5a0-0000-7000-8000-000000000099';
  beforeEach(async () => {
    await database.query('delete from products');
    await send('POST', '/products', product({ code: 'A1' }));
    server.takeLog();
  });

  it.each([
    ['/products', product({ code: '' }), "Missing or invalid 'code'", 'body code', 'range'],
    ['/products', product({ code: 'a1' }), "Missing or invalid 'code'", 'body code', 'duplicate'],
    ['/products', product({ name: null }), "Missing or invalid 'name'", 'body name', 'missing'],
    ['/products', product({ turnover: '1.00' }), 'Bad Request', 'body', 'range'],
    ['/products/lines', { orderId: UNKNOWN, quantity: 1 }, "Missing or invalid 'orderId'", 'body orderId', 'not-found'],
  ])('POST %s %j is a 400 that names the field, where it is one', async (path, body, error, fault, reason) => {
    const { status, body: sent, headers } = await send('POST', path, body);
    expect({ status, sent }).toEqual({ status: 400, sent: { status: 400, error } });
    expect(headers.get('Lanyard-Fault')).toBe(fault);
    expect(headers.get('Lanyard-Fault-Reason')).toBe(reason);
    expect(JSON.stringify(server.takeLog())).toMatch(/violates [a-z -]+constraint/);
    expect(await rowsOf(Product).count()).toBe(1);
  });

  it('is a 409 where it is kept because others refer to it', async () => {
    const [{ id }] = (await rowsOf(Product).find()) as [Product];
    await database.query('insert into reviews values ($1, $2)', [caller.organizationId, id]);
    const { status, body } = await send('DELETE', `/products/${id}`);
    expect({ status, body }).toEqual({ status: 409, body: { status: 409, error: 'Conflict' } });
    await database.query('delete from reviews');
    expect((await send('DELETE', `/products/${id}`)).status).toBe(200);
  });

  it('is a 500 where no field of the body is at fault', async () => {
    await database.query('alter table products add constraint never check (created_at < to_timestamp(0)) not valid');
    expect((await send('POST', '/products', product())).status).toBe(500);
    await database.query('alter table products drop constraint never');
  });
});

describe('a row with rows of its relations', () => {
  const lines = [{ quantity: 1 }, { quantity: 2 }] as OrderLine[];

  it.each(['save', 'insert'] as const)(
    'is rejected by %s, which would not store them, with what to do',
    async (method) => {
      const orders = rowsOf(Order);
      const before = await orders.count();
      await expect(orders[method]({ customer: 'Ada', lines })).rejects.toThrow(
        'Order.lines would not be stored: repositoryFor() stores one row. Save the rows of OrderLine by their own repository,' +
          ' within one dataSource.transaction().',
      );
      expect(await orders.count()).toBe(before);
      const { id } = await orders.save({ customer: 'Ada' });
      await expect(orders.save({ id, customer: 'Grace', lines })).rejects.toThrow('Order.lines would not be stored');
      expect(await orders.findOneByOrFail({ id })).toMatchObject({ customer: 'Ada' });
    },
  );

  it('may refer to a row, and not change it', async () => {
    const order = await rowsOf(Order).save({ customer: 'Ada' });
    const stored = await rowsOf(Product).save(product());
    const { id: productId } = stored;
    const line = { orderId: order.id, quantity: 1 };
    expect(await rowsOf(OrderLine).save({ ...line, product: { id: productId } as Product })).toMatchObject(line);
    expect(await rowsOf(OrderLine).findBy({ productId })).toHaveLength(1);
    for (const related of [product(), { ...stored, name: 'Lanyard' }]) {
      await expect(rowsOf(OrderLine).save({ ...line, product: related })).rejects.toThrow(
        'OrderLine.product would not be stored',
      );
    }
    expect(await rowsOf(OrderLine).countBy({ orderId: order.id })).toBe(1);
  });
});

describe('a page of rows with their relations', () => {
  it.each([
    { order: { position: 'ASC' } },
    { order: { createdAt: 'ASC' }, select: { id: true, customer: true, lines: true } },
  ] as const)('is in the order that it asks for: %j', async (options) => {
    const orders = rowsOf(Order);
    await orders.delete({ organizationId: caller.organizationId } as object);
    for (const customer of ['Ada', 'Grace', 'Mary']) {
      const { id: orderId } = await orders.save({ customer });
      await rowsOf(OrderLine).insert([
        { orderId, quantity: 1 },
        { orderId, quantity: 2 },
      ]);
    }
    for (const repository of [orders, database.getRepository(Order)]) {
      const [rows, total] = await repository.findAndCount({ ...options, take: 2, skip: 1, relations: { lines: true } });
      expect(total).toBe(3);
      expect(rows.map(({ customer, lines }) => [customer, lines.length])).toEqual([
        ['Grace', 2],
        ['Mary', 2],
      ]);
      expect(rows[0]).not.toHaveProperty('position');
    }
  });

  it('may be in an order of a relation that it does not show', async () => {
    const { id: orderId } = await rowsOf(Order).save({ customer: 'Ada' });
    await rowsOf(OrderLine).insert([
      { orderId, quantity: 1 },
      { orderId, quantity: 2 },
    ]);
    const [rows] = await rowsOf(OrderLine).findAndCount({
      where: { orderId },
      order: { order: { position: 'ASC' }, quantity: 'DESC' },
      take: 2,
    });
    expect(rows.map(({ quantity }) => quantity)).toEqual([2, 1]);
    expect(rows[0]).not.toHaveProperty('order');
  });
});
