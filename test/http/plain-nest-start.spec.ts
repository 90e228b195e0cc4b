import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  Post,
  Query,
  Render,
  SetMetadata,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { createApp } from '../../src/app';
import { Config } from '../../src/config';
import { createLog } from '../../src/observability/log';
import { leadInput, phone } from '../support/builders';
import { createTestDatabase } from '../support/database';
import { startWithModules } from '../support/plain-modules';

@Controller()
class ViewsController {
  @Get('views')
  @Render('index')
  root() {
    return { message: 'Hello world!' };
  }
}

@Module({ controllers: [ViewsController] })
class ViewsModule {}

/** As `@WebSocketGateway()` of a package that is not installed here. */
@SetMetadata('websockets:is_gateway', true)
@Injectable()
class EventsGateway {}

@Module({ providers: [EventsGateway] })
class GatewayModule {}

describe('the start with a module that cannot be served', () => {
  it.each<[Type, string]>([
    [ViewsModule, 'ViewsController.root uses @Render(), but Lanyard has no view engine.'],
    [GatewayModule, 'EventsGateway is a WebSocket gateway, which has no API key.'],
  ])('is refused with the reason: %p', async (module, reason) => {
    const { url, drop } = await createTestDatabase();
    const log = createLog('silent', { write: () => undefined });
    await expect(
      createApp(new Config({ databaseUrl: url, logLevel: 'silent' }), log, { modules: [module] }),
    ).rejects.toThrow(reason);
    await drop();
  });
});

class CreateCatDto {
  @IsString() name: string;
}

class FindQuery {
  @IsOptional() @IsInt() age?: number;
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
  it('has its options for the module, and leaves the API of Lanyard as it is', async () => {
    const server = await startWithModules([CatsModule]);
    const unknown = await server.send('POST', '/cats', { body: { name: 'Tom', owner: 'Jerry' } });
    expect(unknown.body).toEqual({ status: 400, error: 'property owner should not exist' });
    expect((await server.send('GET', '/cats?age=5')).body?.results).toEqual({ age: 5 });
    expect((await server.send('GET', '/cats?size=5')).body?.error).toBe('property size should not exist');

    const input = leadInput({ phoneNumbers: [phone()] });
    const lead = await server.send('POST', '/leads', { body: { ...input, unknown: 1 } });
    expect([lead.status, lead.body?.error]).toEqual([200, undefined]);
    const page = await server.send('GET', '/leads?limit=5&offset=0');
    expect(page.body).toMatchObject({ status: 200, pagination: { limit: 5, offset: 0 }, results: { total: 1 } });
    const { body } = await server.send('GET', '/leads?limit=x');
    expect(body).toEqual({ status: 400, error: 'Bad Request' });
  });
});
