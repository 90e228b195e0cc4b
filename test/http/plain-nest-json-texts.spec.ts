import { Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { LeadsQuery } from '../../src/contexts/leads/lead.dto';
import { LeadsModule } from '../../src/contexts/leads/leads.module';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { leadInput } from '../support/builders';
import { type PlainServer, startWithModules } from '../support/plain-modules';

@Controller('visitors')
class VisitorsController {
  constructor(
    private readonly leads: LeadsService,
    private readonly dataSource: DataSource,
  ) {}

  @Get()
  list(@CurrentCaller() caller: Caller, @Query() query: LeadsQuery) {
    return this.leads.list(caller, query);
  }

  @Post()
  create(@CurrentCaller() caller: Caller) {
    return this.dataSource.transaction(() => this.leads.create(caller, leadInput()));
  }

  @Post('batched')
  createBatched(@CurrentCaller() caller: Caller) {
    return this.leads.create(caller, leadInput());
  }

  @Post('list')
  createList(@CurrentCaller() caller: Caller) {
    return this.leads.upsert(caller, { matchBy: 'none', leads: [leadInput(), leadInput()] } as never);
  }

  @Get('texts')
  texts() {
    return { note: '{"a": 1}', items: ['[1]'] };
  }

  @Get('text')
  text() {
    return '{"a": 1}';
  }

  @Get(':id')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return this.leads.get(caller, id);
  }

  @Get(':id/badge')
  async badge(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return { badge: 7, visitor: await this.leads.get(caller, id) };
  }
}

@Module({ imports: [LeadsModule], controllers: [VisitorsController] })
class VisitorsModule {}

describe('the JSON texts of statements, in a handler without a decorator', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([VisitorsModule])));

  const send = async (method: string, path: string, headers?: Record<string, string>) =>
    (await server.send(method, `/visitors${path}`, { headers })).body as {
      results: { id: string } & Record<string, unknown>;
    };

  it.each([
    ['of a transaction', '', {}],
    ['of a batch', '/batched', {}],
    ['of an idempotent request', '/batched', { 'idempotency-key': 'visitor-1' }],
  ])('are results: %s', async (_, path, headers) => {
    const { results } = await send('POST', path, headers);
    expect(results).toMatchObject({ firstName: leadInput().firstName });
    expect((await send('GET', `/${results.id}`)).results).toEqual(results);
    expect((await send('GET', `/${results.id}/badge`)).results).toEqual({ badge: 7, visitor: results });
  });

  it('are the items of a list and of a page', async () => {
    const { results } = await send('POST', '/list');
    expect(results).toMatchObject(
      [0, 1].map(() => ({ lead: expect.objectContaining({ firstName: leadInput().firstName }) as unknown })),
    );
    const page = await send('GET', '?limit=2&offset=0');
    const lead = expect.objectContaining({ firstName: leadInput().firstName }) as unknown;
    expect(page).toMatchObject({ pagination: { limit: 2, offset: 0 }, results: { visitors: [lead, lead] } });
  });

  it('are not other strings that look like JSON', async () => {
    expect((await send('GET', '/texts')).results).toEqual({ note: '{"a": 1}', items: ['[1]'] });
    expect((await send('GET', '/text')).results).toBe('{"a": 1}');
  });
});
