import { readFile } from 'node:fs/promises';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { Writes } from '../../src/data/database/writes';
import { type PlainServer, startWithModules } from '../support/plain-modules';

const readMissing = () => readFile('/no/such/file');

/** As a client of another database reports it. */
const ofAnotherDatabase = (code: string): Error => Object.assign(new Error('of another database'), { code });

@Controller('files')
class FilesController {
  constructor(
    private readonly writes: Writes,
    private readonly dataSource: DataSource,
  ) {}

  @Get()
  read() {
    return readMissing();
  }

  @Post()
  readOnce() {
    return readMissing();
  }

  @Post('transaction')
  inTransaction() {
    return this.dataSource.transaction(readMissing);
  }

  @Post('writes')
  inWrites(@CurrentCaller() caller: Caller) {
    return this.writes.transaction(caller, readMissing);
  }

  @Post('deadlock')
  deadlock(@CurrentCaller() caller: Caller) {
    return this.writes.transaction(caller, () => Promise.reject(ofAnotherDatabase('40P01')));
  }

  @Get('refused')
  async refused() {
    await new Client({ host: '127.0.0.1', port: 1 }).connect();
  }

  @Get('lost')
  lost() {
    return this.dataSource.query('select pg_terminate_backend(pg_backend_pid())');
  }

  @Get('circular')
  circular() {
    const value: Record<string, unknown> = {};
    value.self = value;
    return this.dataSource.query('select $1::json', [value]);
  }
}

@Module({ controllers: [FilesController] })
class FilesModule {}

describe('an error that is not of the database', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([FilesModule])));

  it.each([
    ['GET', '', {}],
    ['POST', '', { 'idempotency-key': 'file-1' }],
    ['POST', '', { prefer: 'dry-run' }],
    ['POST', '/transaction', {}],
    ['POST', '/transaction', { 'idempotency-key': 'file-2' }],
    ['POST', '/writes', {}],
    ['POST', '/deadlock', {}],
    ['GET', '/refused', {}],
    ['GET', '/circular', {}],
  ])("is the module's own: %s /files%s %j", async (method, path, headers) => {
    const response = await server.send(method, `/files${path}`, { headers });
    expect(response.status).toBe(500);
    expect(response.headers.has('retry-after')).toBe(false);
  });

  it('is told from a connection that is lost', async () => {
    const response = await server.send('GET', '/files/lost');
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
  });
});
