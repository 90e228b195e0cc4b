import {
  type CallHandler,
  ConflictException,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  Post,
  Query,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  type Caller,
  CurrentCaller,
  json,
  LeadsModule,
  LeadsService,
  PageQuery,
  Public,
  repositoryFor,
  Statements,
  Transactions,
  Writes,
} from 'lanyard';
import { type Observable, of, tap } from 'rxjs';
import { DataSource, Repository } from 'typeorm';
import { Hall } from '../src/halls.module';

export const LEAD = {
  createdByEmail: 'booth@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  companyName: 'Cobalt Systems',
};

export const MAIL_SENDER = 'mail sender';

interface MailSender {
  send(to: string): string;
}

const GET_HALL = {
  name: 'bookings.hall',
  text: `select ${json<{ name: string }>({ name: 'name' })} from halls where organization_id = $1 and id = $2`,
};

/** As `@WebSocketGateway()` of a package that is not installed here. */
@SetMetadata('websockets:is_gateway', true)
@Injectable()
class EventsGateway {}

/** As `@Resolver()` of a package that is not installed here. */
@SetMetadata('graphql:resolver_type', undefined)
@Injectable()
class HallsResolver {}

@Module({ providers: [EventsGateway] })
export class GatewayModule {}

@Module({ providers: [HallsResolver] })
export class ResolverModule {}

@Public()
@Module({ providers: [EventsGateway, HallsResolver] })
class PublicModule {}

type CachedRequest = { url: string; caller?: Caller };

/** As that of `@nestjs/cache-manager`, which is not installed here. */
@Injectable()
class CacheInterceptor implements NestInterceptor {
  private readonly responses = new Map<string, unknown>();

  trackBy(context: ExecutionContext): string {
    return context.switchToHttp().getRequest<CachedRequest>().url;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const key = this.trackBy(context);
    if (this.responses.has(key)) return of(this.responses.get(key));
    return next.handle().pipe(tap((response) => void this.responses.set(key, response)));
  }
}

@Injectable()
class OrganizationCache extends CacheInterceptor {
  override trackBy(context: ExecutionContext): string {
    return `${context.switchToHttp().getRequest<CachedRequest>().caller?.organizationId} ${super.trackBy(context)}`;
  }
}

@Controller('cached')
class CachedController {
  @Get()
  @UseInterceptors(CacheInterceptor)
  find() {
    return {};
  }
}

@Module({ controllers: [CachedController] })
export class CachedModule {}

@Controller('bookings')
class BookingsController {
  private readonly responses = new Map<string, unknown>();

  constructor(
    @InjectRepository(Hall) private readonly halls: Repository<Hall>,
    @Inject(MAIL_SENDER) private readonly mails: MailSender,
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly writes: Writes,
    private readonly statements: Statements,
    private readonly leads: LeadsService,
  ) {}

  /** Stores a hall and a lead, or neither. */
  @Post(':way')
  async create(@CurrentCaller() caller: Caller, @Param('way') way: string, @Query('fails') fails?: string) {
    const work = async () => {
      const { id } = await repositoryFor(caller, this.halls).save({ name: 'North' });
      const lead = await this.leads.create(caller, LEAD);
      if (fails) throw new ConflictException('The hall is taken');
      return { lead, hall: await this.statements.selectOne(caller, GET_HALL, [id]), mail: this.mails.send('Ada') };
    };
    switch (way) {
      case 'dataSource.transaction':
        return this.dataSource.transaction(work);
      case 'manager.transaction':
        return this.dataSource.manager.transaction(work);
      case 'Writes.transaction':
        return this.writes.transaction(caller, work);
      case 'Transactions.run':
        return this.transactions.run(work);
      default:
        return this.onOwnRunner(work);
    }
  }

  private async onOwnRunner<T>(work: () => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    await runner.startTransaction();
    try {
      const result = await this.transactions.runOn(runner.manager, work);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  }

  @Get()
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery) {
    return this.leads.list(caller, page);
  }

  @Get('leads/:id')
  getLead(@CurrentCaller() caller: Caller, @Param('id') id: string) {
    return this.leads.get(caller, id);
  }

  /** A cache that finds responses by their URL alone, of which nothing is known at start. */
  @Get('shared')
  async findShared(@CurrentCaller() caller: Caller) {
    if (!this.responses.has('shared')) this.responses.set('shared', await repositoryFor(caller, this.halls).find());
    return this.responses.get('shared');
  }

  @Get('own')
  @UseInterceptors(OrganizationCache)
  findOwn(@CurrentCaller() caller: Caller) {
    return repositoryFor(caller, this.halls).find();
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Hall]), LeadsModule, PublicModule],
  controllers: [BookingsController],
  providers: [{ provide: MAIL_SENDER, useValue: { send: (to: string) => `sent to ${to}` } }],
})
export class BookingsModule {}

@Injectable()
export class CapitalLeads extends LeadsService {
  override create(caller: Caller, input: Parameters<LeadsService['create']>[1]) {
    return super.create(caller, { ...input, lastName: input.lastName.toUpperCase() });
  }
}

@Injectable()
export class LocalSender {
  send = (to: string): string => `written for ${to}`;
}
