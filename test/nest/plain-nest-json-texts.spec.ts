import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { Exclude } from 'class-transformer';
import { DataSource } from 'typeorm';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { LeadsQuery } from '../../src/contexts/leads/lead.dto';
import { LeadsModule } from '../../src/contexts/leads/leads.module';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { Page, Statements } from '../../src/data/database/statements';
import { leadInput } from '../support/builders';
import { type PlainServer, startWithModules } from '../support/plain-modules';

const ROOM = { name: 'room', text: `select case when $1 > 0 then '12' end` };

class Badge {
  @Exclude() secret = 'secret';
  constructor(readonly code: number) {}
}

@Controller('visitors')
class VisitorsController {
  constructor(
    private readonly leads: LeadsService,
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
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

  @Get('room')
  async room(@CurrentCaller() caller: Caller) {
    const room = await this.statements.selectOne(caller, ROOM, []);
    return { room: room.text, number: room };
  }

  @Get('plain-page')
  plainPage() {
    return { items: [{ id: 1 }], limit: 1, offset: 0, total: 1 };
  }

  @Get('page')
  page() {
    return new Page({ items: [new Badge(7)], limit: 1, offset: 0, total: 1 });
  }

  @Get(':id')
  get(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return this.leads.get(caller, id);
  }

  @Get(':id/badge')
  async badge(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return { badge: 7, visitor: await this.leads.get(caller, id) };
  }

  @Get(':id/name')
  async name(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    const { firstName } = JSON.parse(await this.leads.get(caller, id)) as { firstName: string };
    return { firstName };
  }
}

@Controller('serialized')
@UseInterceptors(ClassSerializerInterceptor)
class SerializedController extends VisitorsController {}

@Module({ imports: [LeadsModule], controllers: [VisitorsController, SerializedController] })
class VisitorsModule {}

describe('the JSON texts of statements, in a handler without a decorator', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([VisitorsModule])));

  const send = async (method: string, path: string, headers?: Record<string, string>, controller = 'visitors') =>
    (await server.send(method, `/${controller}${path}`, { headers })).body as {
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
    expect((await server.send('GET', '/visitors/room')).text).toBe(
      '{"status":200,"results":{"room":"12","number":12}}',
    );
  });

  it('are read by JSON.parse', async () => {
    const { results } = await send('POST', '');
    expect((await send('GET', `/${results.id}/name`)).results).toEqual({ firstName: leadInput().firstName });
  });

  it('are results after ClassSerializerInterceptor, and so is a page', async () => {
    const { results } = await send('POST', '', {}, 'serialized');
    expect(results).toMatchObject({ firstName: leadInput().firstName });
    const read = (path: string) => send('GET', path, {}, 'serialized');
    expect((await read(`/${results.id}`)).results).toEqual(results);
    expect((await read(`/${results.id}/badge`)).results).toEqual({ badge: 7, visitor: results });
    expect((await read('?limit=1&offset=0')).results).toMatchObject({
      serialized: [{ firstName: expect.any(String) as string }],
    });
    expect((await server.send('GET', '/serialized/page')).text).toBe(
      '{"status":200,"pagination":{"limit":1,"offset":0},"results":{"serialized":[{"code":7}],"total":1}}',
    );
  });

  it('does not take a plain object for a page: the log names the class', async () => {
    server.takeLog();
    expect((await server.send('GET', '/visitors/plain-page')).status).toBe(500);
    const messages = server.takeLog().map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining('return new Page('));
  });
});
