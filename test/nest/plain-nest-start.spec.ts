import {
  Body,
  Controller,
  type DynamicModule,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Param,
  Post,
  Query,
  type Type as NestType,
  UseInterceptors,
  ValidationPipe,
  Version,
} from '@nestjs/common';
import { APP_PIPE, ExternalContextCreator, RouterModule } from '@nestjs/core';
import type { Request } from 'express';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { type Caller, CurrentCaller } from '../../src/http/pipeline/caller';
import { Public } from '../../src/http/pipeline/public';
import { createApp } from '../../src/app';
import { Config, ConfigError } from '../../src/config';
import { createLog } from '../../src/observability/log';
import { leadInput, phone } from '../support/builders';
import { createTestDatabase } from '../support/database';
import { type PlainServer, startWithModules } from '../support/plain-modules';
import {
  ViewsModule,
  EventsGateway,
  GatewayModule,
  HallsResolver,
  ResolverModule,
  GraphQLModule,
  HallsGraphModule,
  CacheInterceptor,
  CachedModule,
  GlobalCacheModule,
  PeopleModule,
  BadgesModule,
  TwoBadgesModule,
  TwiceVersionedModule,
} from './fixtures/plain-nest-start';

describe('the start with a module that cannot be served', () => {
  it.each<[NestType, string]>([
    [ViewsModule, 'ViewsController.root uses @Render(), but Lanyard has no view engine.'],
    [GatewayModule, 'EventsGateway is a WebSocket gateway, which no API key and no rate limit protect.'],
    [ResolverModule, 'HallsResolver is a GraphQL resolver, which no API key and no rate limit protect.'],
    [HallsGraphModule, 'HallsGraphModule imports GraphQLModule, which no API key and no rate limit protect.'],
    [
      CachedModule,
      'CachedModule uses CacheInterceptor, which would send one organization the cached responses of another.',
    ],
    [GlobalCacheModule, 'GlobalCacheModule uses CacheInterceptor, which would send one organization'],
    [PeopleModule, 'LeadsController.createLead and PeopleController.create both handle POST /leads.'],
    [BadgesModule, 'LeadsController.getLead and BadgesController.find both handle GET /leads/:id.'],
    [TwoBadgesModule, 'OtherBadgesController.list and BadgesController.find both handle GET /badges.'],
    [TwiceVersionedModule, 'NewHallsController.list and VersionedHallsController.list both handle GET /v2/halls.'],
  ])('is refused with the reason: %p', async (module, reason) => {
    const { url, drop } = await createTestDatabase();
    const log = createLog('silent', { write: () => undefined });
    const start = createApp(new Config({ databaseUrl: url, logLevel: 'silent' }), log, { modules: [module] });
    await expect(start).rejects.toThrow(ConfigError);
    await expect(start).rejects.toThrow(reason);
    await drop();
  });
});

@Public()
@Module({ imports: [GraphQLModule], providers: [HallsResolver, EventsGateway] })
class PublicModule {}

@Injectable()
class OrganizationCacheInterceptor extends CacheInterceptor {
  override trackBy(context: ExecutionContext): string {
    return `${context.switchToHttp().getRequest<Request>().caller?.organizationId} ${super.trackBy(context)}`;
  }
}

@Controller('cached')
class OwnCachedController {
  @Get()
  @UseInterceptors(OrganizationCacheInterceptor)
  find(@CurrentCaller() { organizationId }: Caller) {
    return { organizationId };
  }
}

@Module({ controllers: [OwnCachedController] })
class OwnCachedModule {}

describe('what does not come by HTTP', () => {
  it('is served where its module is @Public(), and says no more of an error than the API', async () => {
    const server = await startWithModules([PublicModule]);
    const resolver = server.app.get(HallsResolver, { strict: false });
    const options = { guards: true, interceptors: true, filters: true };
    const creator = server.app.get(ExternalContextCreator);
    const find = creator.create(
      resolver,
      resolver.find,
      'find',
      undefined,
      undefined,
      undefined,
      undefined,
      options,
      'graphql',
    );
    expect(await find('North')).toBe('North');
    // A GraphQL server calls the resolver of a query without a parent object.
    expect(await find(undefined)).toBeUndefined();
    expect(await find('')).toMatchObject({ message: 'No name', status: 400 });
    server.takeLog();
    expect(await find('secret')).toMatchObject({ message: 'Internal Server Error', status: 500 });
    expect(server.takeLog()).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'The password is secret' }),
    );
  });
});

describe('a cache whose key has the organization', () => {
  it('sends each organization its own response', async () => {
    const server = await startWithModules([OwnCachedModule]);
    const other = await server.tenant();
    for (const [key, organizationId] of [
      [other.key, other.organizationId],
      [undefined, server.organizationId],
      [other.key, other.organizationId],
    ] as const) {
      const { body } = await server.send('GET', '/cached', { headers: key === undefined ? {} : { 'x-api-key': key } });
      expect(body?.results).toEqual({ organizationId });
    }
  });
});

@Controller('rooms')
class RoomsController {
  @Get()
  @Version('1')
  first() {
    return { version: 1 };
  }

  @Get()
  @Version('2')
  second() {
    return { version: 2 };
  }
}

@Controller({ path: 'rooms', host: 'admin.example.com' })
class AdminRoomsController {
  @Get('of-host')
  list() {
    return { host: 'admin' };
  }
}

@Controller('rooms')
class OtherRoomsController {
  @Get('of-host')
  list() {
    return { host: 'any' };
  }
}

@Controller('shared')
class SharedController {
  @Get()
  find() {
    return { isShared: true };
  }
}

@Module({})
class SharedModule {
  static register(name: string): DynamicModule {
    return { module: SharedModule, controllers: [SharedController], providers: [{ provide: name, useValue: name }] };
  }
}

@Controller()
class FloorController {
  @Get('plan')
  plan() {
    return { floor: 1 };
  }
}

@Controller()
class CellarController {
  @Get('plan')
  plan() {
    return { floor: -1 };
  }
}

@Module({ controllers: [FloorController] })
class FloorModule {}

@Module({ controllers: [CellarController] })
class CellarModule {}

@Controller('leads')
class ReportsController {
  @Get('report')
  report() {
    return { leads: 0 };
  }

  @Get(':leadId/report')
  ofLead(@Param('leadId') leadId: string) {
    return { leadId };
  }
}

@Module({
  imports: [
    SharedModule.register('one'),
    SharedModule.register('two'),
    FloorModule,
    CellarModule,
    RouterModule.register([
      { path: 'floor', module: FloorModule },
      { path: 'cellar', module: CellarModule },
    ]),
  ],
  controllers: [RoomsController, AdminRoomsController, OtherRoomsController, ReportsController],
})
class AlikeModule {}

describe('routes that are alike', () => {
  it.each([
    ['have different versions', '/v2/rooms', { version: 2 }],
    ['have different hosts', '/rooms/of-host', { host: 'any' }],
    ['are those of a module that a module imports', '/floor/plan', { floor: 1 }],
    ['are those of a module that is there twice', '/shared', { isShared: true }],
    ['have different paths by the RouterModule', '/cellar/plan', { floor: -1 }],
    ['have a word where Lanyard has a parameter', '/leads/report', { leads: 0 }],
    ['go on after a parameter of Lanyard', '/leads/7/report', { leadId: '7' }],
  ])('are served where they %s', async (_, path, results) => {
    expect((await (await alike()).send('GET', path)).body).toEqual({ status: 200, results });
  });

  let server: Promise<PlainServer> | undefined;
  const alike = (): Promise<PlainServer> => (server ??= startWithModules([AlikeModule]));
});

class CreateCatDto {
  @IsString() name: string;
}

class FindQuery {
  @IsOptional() @Type(() => Number) @IsInt() age?: number;
}

@Controller('cats')
class CatsController {
  @Post()
  create(@Body() cat: CreateCatDto) {
    return cat;
  }

  @Get()
  find(@Query() query: FindQuery) {
    return query;
  }
}

@Module({
  controllers: [CatsController],
  providers: [
    {
      provide: APP_PIPE,
      useFactory: () =>
        new ValidationPipe({
          whitelist: true,
          forbidNonWhitelisted: true,
          transform: true,
          transformOptions: { enableImplicitConversion: true },
        }),
    },
  ],
})
class CatsModule {}

describe('a global ValidationPipe of a module', () => {
  it('gets what Lanyard has validated, and leaves the API of Lanyard as it is', async () => {
    const server = await startWithModules([CatsModule]);
    const cat = await server.send('POST', '/cats', { body: { name: 'Tom', owner: 'Jerry' } });
    expect(cat.body?.results).toEqual({ name: 'Tom' });
    expect((await server.send('GET', '/cats?age=5&size=5')).body?.results).toEqual({ age: 5 });

    const input = leadInput({ phoneNumbers: [phone()] });
    const lead = await server.send('POST', '/leads', { body: { ...input, unknown: 1 } });
    expect([lead.status, lead.body?.error]).toEqual([200, undefined]);
    const page = await server.send('GET', '/leads?limit=5&offset=0');
    expect(page.body).toMatchObject({ status: 200, pagination: { limit: 5, offset: 0 }, results: { total: 1 } });
    const { body } = await server.send('GET', '/leads?limit=x');
    expect(body).toEqual({ status: 400, error: 'Bad Request' });
  });
});
