import {
  type ArgumentMetadata,
  type ArgumentsHost,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  ConflictException,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  GoneException,
  HttpException,
  Inject,
  Injectable,
  InternalServerErrorException,
  Logger,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
  Param,
  type PipeTransform,
  Post,
  Scope,
  SetMetadata,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  Version,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, REQUEST, Reflector } from '@nestjs/core';
import express, { type NextFunction, type Request, type Response } from 'express';
import { catchError, map, type Observable, throwError, timeout, TimeoutError } from 'rxjs';
import { CurrentCaller } from '../../src/http/pipeline/caller';
import type { Caller } from '../../src/data/database/statements';
import { type PlainServer, startWithModules } from '../support/plain-modules';

/** In the order in which they ran. */
const steps: string[] = [];
const hooks: string[] = [];

@Injectable()
class StepMiddleware implements NestMiddleware {
  use(request: Request, _: Response, next: NextFunction) {
    steps.push(`middleware ${typeof request.body}`);
    next();
  }
}

@Injectable()
class GlobalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, caller } = context.switchToHttp().getRequest<Request>();
    steps.push(`global guard ${typeof body} ${typeof caller}`);
    return true;
  }
}

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.get<string[] | undefined>('roles', context.getHandler());
    return !roles?.includes('admin');
  }
}

@Injectable()
class StepInterceptor implements NestInterceptor {
  constructor(@Inject('name') private readonly name: string) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { body } = context.switchToHttp().getRequest<Request>();
    steps.push(`${this.name} ${typeof body}`);
    return next.handle();
  }
}

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    const toHttp = (error: unknown) => throwError(() => (error instanceof TimeoutError ? new GoneException() : error));
    return next.handle().pipe(timeout(5), catchError(toHttp));
  }
}

@Injectable()
class StepPipe implements PipeTransform {
  transform(value: unknown, { type }: ArgumentMetadata) {
    if (type === 'param') steps.push('global pipe');
    return value;
  }
}

class BookedException extends Error {}

@Catch(BookedException)
class BookedFilter implements ExceptionFilter {
  catch(_: BookedException, host: ArgumentsHost) {
    host.switchToHttp().getResponse<Response>().status(409).json({ code: 'BOOKED', until: '2026-05-04' });
  }
}

@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost) {
    const http = host.switchToHttp();
    const statusCode = exception.getStatus();
    http.getResponse<Response>().status(statusCode).json({ statusCode, path: http.getRequest<Request>().url });
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestScopedService {
  constructor(@Inject(REQUEST) private readonly request: Request) {}

  organizationId() {
    return this.request.caller?.organizationId;
  }
}

@Controller('scoped')
class ScopedController {
  private calls = 0;

  constructor(private readonly service: RequestScopedService) {}

  @Get()
  find() {
    return { organizationId: this.service.organizationId(), calls: ++this.calls };
  }

  @Post(':id')
  create(@Param('id') id: string) {
    return { id, calls: ++this.calls };
  }
}

const UserAgent = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>().get('user-agent'),
);

@Controller('rooms')
class RoomsController {
  private readonly logger = new Logger(RoomsController.name);

  @Post('steps/:id')
  @UseInterceptors(new StepInterceptor('interceptor of the handler'))
  record(@Param('id') id: string, @CurrentCaller() caller: Caller, @UserAgent() agent: string) {
    return { id, organizationId: caller.organizationId, hasAgent: agent.length > 0 };
  }

  @Get('admin')
  @SetMetadata('roles', ['admin'])
  @UseGuards(RolesGuard)
  admin() {
    return [];
  }

  @Get('transformed')
  @UseInterceptors(TransformInterceptor)
  transformed() {
    return ['North'];
  }

  @Get('slow')
  @UseInterceptors(TimeoutInterceptor)
  slow() {
    return new Promise(() => undefined);
  }

  @Get('booked')
  booked() {
    throw new BookedException();
  }

  @Get('filtered')
  @UseFilters(HttpExceptionFilter)
  filtered() {
    throw new ForbiddenException();
  }

  @Get('errors/:name')
  fail(@Param('name') name: string) {
    const errors: Record<string, Error> = {
      conflict: new ConflictException('The room is booked'),
      described: new BadRequestException('Something bad happened', { cause: new Error('x'), description: 'More' }),
      object: new HttpException({ status: 403, error: 'This is a custom message' }, 403),
      list: new BadRequestException(['too small', 'too dark']),
      bare: new UnauthorizedException(),
      wrapped: new HttpException(new Error('password=secret') as never, 409),
      teapot: new HttpException('I am a teapot', 418),
      server: new InternalServerErrorException('The password is secret'),
      unavailable: new HttpException('The password is secret', 503),
      plain: new Error('The password is secret'),
    };
    throw errors[name] as Error;
  }

  @Get('log')
  log() {
    this.logger.verbose('verbosely');
    this.logger.debug('debugging');
    this.logger.log('logged', 'and more');
    this.logger.warn('warned');
    this.logger.error('went wrong', 'at a stack');
    this.logger.error(new Error('an error'));
    this.logger.fatal('ended');
    Logger.log({ message: 'of fields', room: 5 });
    return [];
  }
}

@Controller('versioned')
class VersionedController {
  @Version('1')
  @Get()
  first() {
    return 1;
  }

  @Version('2')
  @Get()
  second() {
    return 2;
  }

  @Version([VERSION_NEUTRAL, '3'])
  @Get('neutral')
  neutral() {
    return 'neutral';
  }
}

@Controller('forms')
class FormsController {
  @Post()
  create(@ParsedBody() body: unknown) {
    return body;
  }

  @Post('body')
  createOf(@Body() body: Record<string, string>) {
    return body;
  }
}

function ParsedBody(): ParameterDecorator {
  return createParamDecorator(
    (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().body as unknown,
  )();
}

@Injectable()
class Hooks implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  onModuleInit() {
    hooks.push('onModuleInit');
  }
  onApplicationBootstrap() {
    hooks.push('onApplicationBootstrap');
  }
  onModuleDestroy() {
    hooks.push('onModuleDestroy');
  }
  beforeApplicationShutdown() {
    hooks.push('beforeApplicationShutdown');
  }
  onApplicationShutdown() {
    hooks.push('onApplicationShutdown');
  }
}

@Module({
  controllers: [RoomsController, ScopedController, VersionedController, FormsController],
  providers: [
    Hooks,
    RequestScopedService,
    { provide: APP_GUARD, useClass: GlobalGuard },
    { provide: APP_INTERCEPTOR, useFactory: () => new StepInterceptor('global interceptor') },
    { provide: APP_PIPE, useClass: StepPipe },
    { provide: APP_FILTER, useClass: BookedFilter },
  ],
})
class RoomsModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(StepMiddleware).forRoutes(RoomsController);
    consumer.apply(express.urlencoded({ extended: false })).forRoutes(FormsController);
    const refuse = () => {
      throw new ForbiddenException('Not through this door');
    };
    consumer.apply(refuse).forRoutes('rooms/door');
  }
}

describe('the pipeline around a plain module', () => {
  let server: PlainServer;
  beforeAll(async () => void (server = await startWithModules([RoomsModule], 'debug')));
  beforeEach(() => void steps.splice(0));

  const results = async (path: string) => {
    const { status, body } = await server.send('GET', path);
    return [status, body?.results];
  };

  it('runs middleware, guards, interceptors and pipes in this order, those of Lanyard first', async () => {
    const { body } = await server.send('POST', '/rooms/steps/7', { body: { name: 'North' } });
    expect(body?.results).toEqual({ id: '7', organizationId: server.organizationId, hasAgent: true });
    expect(steps).toEqual([
      'middleware undefined',
      'global guard undefined object',
      'global interceptor undefined',
      'interceptor of the handler undefined',
      'global pipe',
    ]);
    steps.splice(0);
    const keyless = await server.send('POST', '/rooms/steps/7', { headers: { 'x-api-key': 'x' }, body: {} });
    expect([keyless.status, steps]).toEqual([403, ['middleware undefined']]);
  });

  it('has guards of a handler, whose refusal is Nest’s', async () => {
    const { body } = await server.send('GET', '/rooms/admin');
    expect(body).toEqual({ status: 403, error: 'Forbidden resource' });
  });

  it('has interceptors of a handler within the envelope', async () => {
    expect(await results('/rooms/transformed')).toEqual([200, { data: ['North'] }]);
    expect((await server.send('GET', '/rooms/slow')).status).toBe(410);
  });

  it('keeps the body that a filter of the module makes, and catches what none of its filters does', async () => {
    const booked = await server.send('GET', '/rooms/booked');
    expect([booked.status, booked.body]).toEqual([409, { code: 'BOOKED', until: '2026-05-04' }]);
    const filtered = await server.send('GET', '/rooms/filtered');
    expect([filtered.status, filtered.body]).toEqual([403, { statusCode: 403, path: '/api/v0/rooms/filtered' }]);
  });

  it.each([
    ['conflict', 409, 'The room is booked'],
    ['described', 400, 'Something bad happened'],
    ['object', 403, 'Forbidden'],
    ['list', 400, 'too small, too dark'],
    ['bare', 401, 'Unauthorized'],
    ['wrapped', 409, 'Conflict'],
    ['teapot', 418, 'I am a teapot'],
    ['server', 500, 'Internal Server Error'],
    ['unavailable', 503, 'Service Unavailable'],
    ['plain', 500, 'Internal Server Error'],
  ])('sends the text of an exception below 500: %s', async (name, status, error) => {
    server.takeLog();
    expect((await server.send('GET', `/rooms/errors/${name}`)).body).toEqual({ status, error });
  });

  it('logs the text of an exception with its request', async () => {
    server.takeLog();
    await server.send('GET', '/rooms/errors/conflict');
    await server.send('GET', '/rooms/nothing');
    expect(server.takeLog().filter(({ route }) => route)).toEqual([
      expect.objectContaining({ status: 409, error: 'The room is booked' }),
      expect.not.objectContaining({ error: expect.anything() as unknown }),
    ]);
  });

  it('repeats no path that is unknown', async () => {
    const outside = await fetch(`${new URL(server.baseUrl).origin}/no/such/path?secret=1`);
    expect(await outside.json()).toEqual({ status: 404, error: 'Not Found' });
  });

  it('logs at the level that the module asked for', async () => {
    server.takeLog();
    await server.send('GET', '/rooms/log');
    const lines = server.takeLog().filter(({ route }) => !route);
    const part = 'RoomsController';
    expect(lines).toEqual([
      expect.objectContaining({ level: 'debug', message: 'debugging', part }),
      expect.objectContaining({ level: 'info', message: 'logged', part }),
      expect.objectContaining({ level: 'warn', message: 'warned', part }),
      expect.objectContaining({ level: 'error', message: 'went wrong', stack: 'at a stack', part }),
      expect.objectContaining({ level: 'error', message: 'an error', part }),
      expect.objectContaining({ level: 'fatal', message: 'ended', part }),
      expect.objectContaining({ level: 'info', message: 'of fields', room: 5 }),
    ]);
  });

  it('makes providers and controllers of the scope of a request for each of them', async () => {
    const scoped = { organizationId: server.organizationId, calls: 1 };
    expect(await results('/scoped')).toEqual([200, scoped]);
    expect(await results('/scoped')).toEqual([200, scoped]);
    const headers = { 'idempotency-key': 'scoped-1' };
    for (const replayed of [null, 'true']) {
      const { body, headers: sent } = await server.send('POST', '/scoped/5', { headers });
      expect([body?.results, sent.get('idempotency-replayed')]).toEqual([{ id: '5', calls: 1 }, replayed]);
    }
  });

  it('has middleware that refuses, or reads a body of another type', async () => {
    const { body } = await server.send('GET', '/rooms/door');
    expect(body).toEqual({ status: 403, error: 'Not through this door' });
    for (const path of ['/forms', '/forms/body']) {
      const form = await server.send('POST', path, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'name=North&seats=5',
      });
      expect(form.body?.results).toEqual({ name: 'North', seats: '5' });
    }
  });

  it('has versions in the path, with @Version()', async () => {
    expect(await results('/v1/versioned')).toEqual([200, 1]);
    expect(await results('/v2/versioned')).toEqual([200, 2]);
    expect(await results('/versioned/neutral')).toEqual([200, 'neutral']);
    expect(await results('/v3/versioned/neutral')).toEqual([200, 'neutral']);
    expect((await results('/versioned'))[0]).toBe(404);
  });

  it('calls the hooks of the lifecycle', async () => {
    expect(hooks).toEqual(['onModuleInit', 'onApplicationBootstrap']);
    await server.stop();
    expect(hooks.slice(2)).toEqual(['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown']);
  });
});
