import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { defineExtension, type Extension, LeadsService, ListedEntity, ListedUuidRow } from 'lanyard';
import { startLanyard, TenantOracle, type TestLanyard } from 'lanyard/testing';
import request from 'supertest';
import { DataSource, DeleteDateColumn } from 'typeorm';
import { extension } from '../src/extension';
import {
  BookingsModule,
  CachedModule,
  CapitalLeads,
  GatewayModule,
  LEAD,
  LocalSender,
  MAIL_SENDER,
  ResolverModule,
} from './bookings.module';

const start = (additions: Extension, databaseUrl?: string) =>
  startLanyard({ extension: defineExtension({ ...extension, ...additions }), databaseUrl });

let lanyard: TestLanyard;
beforeAll(async () => {
  lanyard = await start({
    modules: [BookingsModule],
    providers: [
      { provide: LeadsService, useClass: CapitalLeads },
      { provide: MAIL_SENDER, useClass: LocalSender },
    ],
  });
});
afterAll(() => lanyard?.stop());

describe('a module of a team', () => {
  const client = async () => {
    const { key } = await lanyard.createOrganization();
    return async (method: 'get' | 'post', path: string, body?: object) => {
      const response = await request(lanyard.url)[method](path).set('x-api-key', key).send(body);
      return { status: response.status, ...response.body };
    };
  };

  it.each([
    'dataSource.transaction',
    'manager.transaction',
    'Writes.transaction',
    'Transactions.run',
    'Transactions.runOn',
  ])('writes with a service of Lanyard in one transaction: %s', async (way) => {
    const send = await client();
    const stored = async () => [
      (await send('get', '/halls')).results.length,
      (await send('get', '/leads?limit=5&offset=0')).results.total,
    ];
    expect(await send('post', `/bookings/${way}?fails=yes`)).toEqual({ status: 409, error: 'The hall is taken' });
    expect(await stored()).toEqual([0, 0]);
    expect(await send('post', `/bookings/${way}`)).toMatchObject({ status: 200 });
    expect(await stored()).toEqual([1, 1]);
  });

  it('sends the JSON texts of services and statements as JSON, and uses the providers of the extension', async () => {
    const send = await client();
    const lead = { ...LEAD, lastName: 'LOVELACE' };
    const { lastName } = lead;
    const { results } = await send('post', '/bookings/Transactions.run');
    expect(results).toMatchObject({ lead: { lastName }, hall: { name: 'North' }, mail: 'written for Ada' });
    expect(await send('get', `/bookings/leads/${results.lead.id}`)).toEqual({ status: 200, results: results.lead });
    expect(await send('get', '/bookings?limit=5&offset=0')).toMatchObject({ results: { bookings: [{ lastName }] } });
    expect(await send('post', '/leads', LEAD)).toMatchObject({ results: { lastName } });
  });

  it('is found to have a cache that organizations share, and none where its key has the organization', async () => {
    const oracle = new TenantOracle(lanyard.app);
    const send = await client();
    for (const path of ['/bookings/shared', '/bookings/own'])
      expect(await send('get', path)).toMatchObject({ status: 200 });
    expect(await oracle.takeShared()).toEqual(['/api/v0/bookings/shared']);
  });
});

describe('the start', () => {
  /** On the PostgreSQL that runs already. */
  const startAgain = (additions: Extension) => {
    const { url } = lanyard.app.get(DataSource).options as { url: string };
    return start(additions, url);
  };

  it.each<[string, Extension]>([
    ['EventsGateway is a WebSocket gateway', { modules: [GatewayModule] }],
    ['HallsResolver is a GraphQL resolver', { modules: [ResolverModule] }],
    ['CachedModule uses CacheInterceptor', { modules: [CachedModule] }],
    [
      'The provider of nothing in defineExtension() has no effect',
      { providers: [{ provide: 'nothing', useValue: 1 }] },
    ],
  ])('is rejected: %s', async (reason, additions) => {
    await expect(startAgain(additions)).rejects.toThrow(reason);
  });

  // The last test, because an entity counts in every start of this file as soon as a module names it.
  it('is rejected with a list whose rows are deleted softly', async () => {
    @ListedEntity('drafts')
    class Draft extends ListedUuidRow {
      @DeleteDateColumn() deletedAt: Date | null;
    }

    @Module({ imports: [TypeOrmModule.forFeature([Draft])] })
    class DraftsModule {}

    await expect(startAgain({ modules: [DraftsModule] })).rejects.toThrow(
      'Draft is a @ListedEntity with a @DeleteDateColumn',
    );
  });
});
