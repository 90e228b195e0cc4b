/**
 * Its module names an entity, which the suites of a shared process would take for one of Lanyard's own.
 * @jest-environment node
 */
import { randomUUID } from 'node:crypto';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryColumn, type Repository } from 'typeorm';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { repositoryFor } from '../../src/data/database/repository-for';
import { TenantOracle } from '../../src/testing/tenant-oracle';
import { leadInput } from '../support/builders';
import { type PlainServer, startWithModules } from '../support/plain-modules';

@Entity('halls')
class Hall {
  @PrimaryColumn('uuid') id: string;
  @Column('int') organizationId: number;
  @Column('text') name: string;
}

const JOINED = `select from halls h join leads l on l.organization_id = h.organization_id`;

@Controller('cached')
class CachedController {
  private readonly byUrl = new Map<string, unknown>();

  constructor(@InjectRepository(Hall) private readonly halls: Repository<Hall>) {}

  @Get(':key')
  async find(@Param('key') kind: string, @CurrentCaller() caller: Caller) {
    if (kind === 'constant') return [];
    const key = kind === 'own' ? `${caller.organizationId} ${kind}` : kind;
    const read = () =>
      kind === 'catalog'
        ? this.halls.query('select id from industry_events')
        : repositoryFor(caller, this.halls).find();
    if (!this.byUrl.has(key)) this.byUrl.set(key, await read());
    return this.byUrl.get(key);
  }
}

@Controller('halls')
class HallsController {
  constructor(@InjectRepository(Hall) private readonly halls: Repository<Hall>) {}

  @Get(':way')
  async find(@Param('way') way: string, @CurrentCaller() caller: Caller) {
    const own = repositoryFor(caller, this.halls);
    const { organizationId } = caller;
    const ways: Record<string, () => Promise<unknown>> = {
      own: () => own.find({ where: [{ name: 'North' }, { name: 'South' }], order: { name: 'ASC' } }),
      changed: () => own.update({ name: 'North' }, { name: 'South' }),
      saved: () => own.save({ id: randomUUID(), name: 'North' }),
      scoped: () => this.halls.findBy({ organizationId, name: 'North' }),
      joined: () => this.halls.query(`${JOINED} where l.organization_id = $1`, [organizationId]),
      all: () => this.halls.find(),
      byId: () => this.halls.findOneBy({ id: '448e55d6-0a6e-5e30-81d1-19527287a0c9' }),
      updated: () => this.halls.update({ name: 'North' }, { name: 'South' }),
      deleted: () => this.halls.delete({ name: 'North' }),
      others: () => this.halls.query('select from halls where organization_id <> $1', [organizationId]),
      joinedOnly: () => this.halls.query(JOINED),
      leads: () => this.halls.query('select email from leads where email = $1', ['ada@example.com']),
    };
    await ways[way]?.();
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Hall])], controllers: [HallsController, CachedController] })
class HallsModule {}

describe('the tenant oracle', () => {
  let server: PlainServer;
  let oracle: TenantOracle;
  beforeAll(async () => {
    server = await startWithModules([HallsModule]);
    await server.app
      .get(DataSource)
      .query('create table halls (id uuid primary key, organization_id int not null, name text not null)');
    oracle = new TenantOracle(server.app);
  });

  const tablesOf = async (way: string): Promise<string[]> => {
    expect((await server.send('GET', `/halls/${way}`)).status).toBe(200);
    return (await oracle.takeUnscoped()).map(({ table }) => table).sort();
  };

  it.each(['own', 'changed', 'saved', 'scoped', 'joined'])('takes a statement with a condition: %s', async (way) => {
    expect(await tablesOf(way)).toEqual([]);
  });

  it.each([
    ['all', ['halls']],
    ['byId', ['halls']],
    ['updated', ['halls']],
    ['deleted', ['halls']],
    ['others', ['halls']],
    ['joinedOnly', ['halls', 'leads']],
    ['leads', ['leads']],
  ])('names the table without a condition: %s', async (way, tables) => {
    expect(await tablesOf(way)).toEqual(tables);
    expect(await tablesOf(way)).toEqual(tables);
  });

  it('names the statement', async () => {
    await server.send('GET', '/halls/leads');
    const text = 'select email from leads where email = $1';
    expect(await oracle.takeUnscoped()).toEqual([{ table: 'leads', text }]);
  });

  it.each([
    ['by the URL alone', 'url', ['/api/v0/cached/url']],
    ['by the organization and the URL', 'own', []],
    ['of what all organizations share', 'catalog', []],
    ['of nothing', 'constant', []],
  ])('names a response from a cache that organizations share: %s', async (_, kind, urls) => {
    expect((await server.send('GET', `/cached/${kind}`)).status).toBe(200);
    expect((await server.send('GET', `/cached/${kind}`)).status).toBe(200);
    expect(await oracle.takeShared()).toEqual(urls);
    expect(await oracle.takeShared()).toEqual([]);
  });

  it('finds nothing in the API of Lanyard', async () => {
    const headers = { 'idempotency-key': 'oracle-1' };
    const { body } = await server.send('POST', '/leads', { headers, body: leadInput() });
    const { id } = body?.results as { id: string };
    await server.send('PATCH', `/leads/${id}`, { body: { jobTitle: 'x' } });
    for (const path of ['/leads', '/events', '/leadActivityEvents', '/industryEvents', '/changes', `/leads/${id}`]) {
      expect((await server.send('GET', path)).status).toBe(200);
    }
    await server.send('DELETE', `/leads/${id}`);
    expect(await oracle.takeUnscoped()).toEqual([]);
    expect(await oracle.takeShared()).toEqual([]);
  });
});
