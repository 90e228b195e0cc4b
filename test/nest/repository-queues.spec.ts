import { Controller, Get, Module } from '@nestjs/common';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { DEFAULT_POOL_SIZE } from '../../src/data/database/limits';
import { TransactionalDataSource } from '../../src/data/database/transactional-data-source';
import { type PlainServer, startWithModules } from '../support/plain-modules';
import { waitUntil } from '../support/wait';

const LOCK = 4711;

@Controller('halls')
class HallsController {
  constructor(private readonly db: DataSource) {}

  @Get()
  list() {
    return this.db.query('select 1 as hall');
  }

  @Get('locked')
  lock() {
    return this.db.query(`select pg_advisory_xact_lock_shared(${LOCK})`);
  }
}

@Module({ controllers: [HallsController] })
class HallsModule {}

describe('repositories of a module', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([HallsModule])));

  it('let another organization pass while one holds all connections that it may hold', async () => {
    const blocker = new Client(server.config.databaseUrl);
    await blocker.connect();
    await blocker.query('select pg_advisory_lock($1)', [LOCK]);
    let answered = 0;
    const locked = Array.from({ length: 2 * DEFAULT_POOL_SIZE }, async () => {
      const { status } = await server.send('GET', '/halls/locked');
      answered++;
      return status;
    });
    const { queue } = server.app.get(TransactionalDataSource);
    await waitUntil(() => Promise.resolve(queue.waitingRequests > 0));
    const other = await server.tenant();
    const { status } = await server.send('GET', '/halls', { headers: { 'x-api-key': other.key } });
    expect([status, answered]).toEqual([200, 0]);
    await blocker.end();
    expect(await Promise.all(locked)).toEqual(locked.map(() => 200));
  });
});
