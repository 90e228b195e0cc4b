/**
 * Its module names an entity, which the suites of a shared process would take for one of Lanyard's own.
 * @jest-environment node
 */
import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryColumn, type QueryRunner, type Repository } from 'typeorm';
import type { Caller } from '../../src/http/pipeline/caller';
import { CurrentCaller } from '../../src/http/pipeline/caller';
import { LeadsModule } from '../../src/contexts/leads/leads.module';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { Statements } from '../../src/data/database/statements';
import { Transactions } from '../../src/data/database/transactions';
import { Writes } from '../../src/data/database/writes';
import { leadInput } from '../support/builders';
import { type PlainServer, startWithModules } from '../support/plain-modules';

@Entity('badges')
class Badge {
  @PrimaryColumn('int') id: number;
  @Column('int') organizationId: number;
}

const INSERT = { name: 'badge.insert', text: 'insert into badges (organization_id, id) values ($1, $2)' };

/** What a team writes around a lead that it changes, and a badge that is there already. */
@Injectable()
class BadgesService {
  constructor(
    @InjectRepository(Badge) private readonly badges: Repository<Badge>,
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly writes: Writes,
    private readonly leads: LeadsService,
  ) {}

  async inTransaction(caller: Caller, form: string, work: () => Promise<unknown>): Promise<void> {
    if (form === 'dataSource.transaction') await this.dataSource.transaction(work);
    else if (form === 'Writes.transaction') await this.writes.transaction(caller, work);
    else if (form === 'Transactions.run') await this.transactions.run(work);
    else await this.onRunner(work, (runner) => runner.commitTransaction());
  }

  /** As Nest's documentation writes it. */
  async onRunner(work: () => Promise<unknown>, end: (runner: QueryRunner) => Promise<void>): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    await runner.startTransaction();
    try {
      await work();
      await end(runner);
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }

  async give(caller: Caller, leadId: string, jobTitle: string, insert: () => Promise<unknown>): Promise<void> {
    await this.leads.patch(caller, leadId, { jobTitle });
    await insert().catch(() => 0);
  }

  insert({ organizationId }: Caller, id: number) {
    return this.badges.insert({ id, organizationId });
  }

  insertNested(caller: Caller, id: number) {
    return this.dataSource.transaction(() => this.insert(caller, id));
  }

  insertBySql(caller: Caller, id: number) {
    return this.statements.execute(caller, INSERT, [id]);
  }

  patch(caller: Caller, leadId: string, jobTitle: string) {
    return this.leads.patch(caller, leadId, { jobTitle });
  }
}

@Controller('badges')
class BadgesController {
  constructor(private readonly badges: BadgesService) {}

  @Post('caught/:form/:way/:leadId')
  async giveCaught(
    @CurrentCaller() caller: Caller,
    @Param('form') form: string,
    @Param('way') way: 'insert' | 'insertBySql' | 'insertNested',
    @Param('leadId') leadId: string,
  ) {
    const insert = () => this.badges[way](caller, 1);
    await this.badges.inTransaction(caller, form, () => this.badges.give(caller, leadId, form, insert));
    return 'given';
  }

  @Post('runner/:end/:leadId')
  async giveOnRunner(
    @CurrentCaller() caller: Caller,
    @Param('end') end: 'commitTransaction' | 'rollbackTransaction',
    @Param('leadId') leadId: string,
  ) {
    const beside = this.badges.onRunner(
      () => this.badges.give(caller, leadId, end, () => this.badges.insert(caller, 2)),
      (runner) => runner[end](),
    );
    await beside;
    return this.badges.patch(caller, leadId, 'after');
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Badge]), LeadsModule],
  controllers: [BadgesController],
  providers: [BadgesService],
})
class BadgesModule {}

let server: PlainServer;
let database: DataSource;
let leadId: string;
beforeAll(async () => {
  server = await startWithModules([BadgesModule]);
  database = server.app.get(DataSource);
  await database.query('create table badges (id int primary key, organization_id int not null)');
});
beforeEach(async () => {
  await database.query('delete from badges');
  await database.query('insert into badges values (1, $1)', [server.organizationId]);
  const { body } = await server.send('POST', '/leads', { body: leadInput() });
  leadId = (body!.results as { id: string }).id;
});

const jobTitle = async (): Promise<unknown> =>
  ((await server.send('GET', `/leads/${leadId}`)).body!.results as { jobTitle: string }).jobTitle;

const FORMS = ['dataSource.transaction', 'Writes.transaction', 'Transactions.run', 'QueryRunner'];

describe('a transaction in which an error of a statement was caught', () => {
  it.each(FORMS.flatMap((form) => ['insert', 'insertBySql'].map((way) => [form, way])))(
    'is a 500, because PostgreSQL has rolled it back: %s, %s',
    async (form, way) => {
      server.takeLog();
      const { status, body } = await server.send('POST', `/badges/caught/${form}/${way}/${leadId}`);
      expect({ status, body }).toEqual({ status: 500, body: { status: 500, error: 'Internal Server Error' } });
      expect(await jobTitle()).toBeNull();
      expect(server.takeLog()).toContainEqual(
        expect.objectContaining({
          error: 'TransactionRolledBack',
          message: expect.stringContaining('run the statement in a transaction() within this one') as string,
          cause: expect.objectContaining({ sqlState: '23505', constraint: 'badges_pkey' }) as object,
        }),
      );
    },
  );

  it.each(FORMS)('is committed if the statement was in a transaction of its own within: %s', async (form) => {
    const { status, body } = await server.send('POST', `/badges/caught/${form}/insertNested/${leadId}`);
    expect({ status, body }).toMatchObject({ status: 200, body: { results: 'given' } });
    expect(await jobTitle()).toBe(form);
  });
});

describe('a query runner of a module', () => {
  it.each([
    ['commitTransaction', 2],
    ['rollbackTransaction', 1],
  ])('has in its transaction what services and repositories write: %s', async (end, badges) => {
    const titles: unknown[] = [];
    const { status } = await server.send('POST', `/badges/runner/${end}/${leadId}`);
    titles.push(status, await jobTitle());
    expect(titles).toEqual([200, 'after']);
    expect(await database.query('select id from badges')).toHaveLength(badges);
    const [{ count }] = await database.query<[{ count: number }]>(
      `select count(*)::int from audit_log where id = $1 and change = 'u'`,
      [leadId],
    );
    expect(count).toBe(badges);
  });
});
