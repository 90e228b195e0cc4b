import { Body, Controller, Injectable, Module, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { CurrentCaller } from '../../src/http/pipeline/caller';
import type { Caller } from '../../src/data/database/statements';
import { Transactions } from '../../src/data/database/transactions';
import { Writes } from '../../src/data/database/writes';
import { type PlainServer, startWithModules } from '../support/plain-modules';

const SAVEPOINT_FAILS = 'the savepoint fails';

@Injectable()
class Bookings {
  /** Texts of the mails that were sent, and how many bookings there were by then. */
  readonly mails: [string, number][] = [];
  /** Called with each mail that was sent. */
  onMail = (): void => undefined;

  constructor(
    private readonly transactions: Transactions,
    private readonly writes: Writes,
    private readonly db: DataSource,
  ) {}

  private notify(text: string): void {
    this.transactions.afterCommit(async () => {
      const [{ total }] = await this.db.query<[{ total: number }]>('select count(*)::int as total from bookings');
      this.mails.push([text, total]);
      this.onMail();
    });
  }

  async book(): Promise<void> {
    await this.db.query('insert into bookings default values');
    this.notify('booked');
  }

  async bookInTransaction(caller: Caller, fails: boolean): Promise<void> {
    await this.writes.transaction(caller, async (manager) => {
      await manager.query('insert into bookings default values');
      this.notify('outer');
      await manager
        .transaction(async () => {
          this.notify('inner');
          if (fails) throw new Error(SAVEPOINT_FAILS);
          return Promise.resolve();
        })
        .catch((error: Error) => {
          if (error.message !== SAVEPOINT_FAILS) throw error;
        });
    });
  }

  run(fails: boolean): Promise<void> {
    return this.transactions.run(async () => {
      await this.book();
      if (fails) throw new Error('rolled back');
    });
  }

  fail(): void {
    this.transactions.afterCommit(() => {
      throw new Error('no mail server');
    });
  }
}

@Controller('bookings')
class BookingsController {
  constructor(private readonly bookings: Bookings) {}

  @Post()
  create() {
    return this.bookings.book();
  }

  @Post('transaction')
  transaction(@CurrentCaller() caller: Caller, @Body() { fails }: { fails: boolean }) {
    return this.bookings.bookInTransaction(caller, fails);
  }

  @Post('run')
  run(@Body() { fails }: { fails: boolean }) {
    return this.bookings.run(fails);
  }

  @Post('failing')
  fail() {
    this.bookings.fail();
  }
}

@Module({ controllers: [BookingsController], providers: [Bookings] })
class BookingsModule {}

describe('work after the commit', () => {
  let server: PlainServer;
  let bookings: Bookings;
  beforeAll(async () => {
    server = await startWithModules([BookingsModule]);
    bookings = server.app.get(Bookings);
    await server.app.get(DataSource).query('create table bookings (id serial primary key)');
  });
  beforeEach(async () => {
    bookings.mails.splice(0);
    await server.app.get(DataSource).query('delete from bookings');
  });

  const post = async (path: string, headers?: Record<string, string>, body?: object) =>
    (await server.send('POST', `/bookings${path}`, { headers, body })).status;
  /** The mails, once there are so many. */
  const mails = (count = 1): Promise<[string, number][]> =>
    new Promise((resolve) => {
      bookings.onMail = () => {
        if (bookings.mails.length >= count) resolve(bookings.mails);
      };
      bookings.onMail();
    });

  it('runs at once outside of a transaction', async () => {
    expect(await post('')).toBe(200);
    expect(await mails()).toEqual([['booked', 1]]);
  });

  it('runs once under an Idempotency-Key, and sees what was written', async () => {
    const key = { 'idempotency-key': 'booking-1' };
    expect([await post('', key), await post('', key)]).toEqual([200, 200]);
    expect(await mails()).toEqual([['booked', 1]]);
  });

  it('does not run in a dry run', async () => {
    expect(await post('', { prefer: 'tx=rollback' })).toBe(200);
    expect(await post('')).toBe(200);
    expect(await mails()).toEqual([['booked', 1]]);
  });

  it('runs after a transaction of Writes, whose savepoints may drop theirs', async () => {
    expect(await post('/transaction', {}, { fails: false })).toBe(200);
    const sent = (await mails(2)).splice(0).map(([text]) => text);
    expect(sent.sort()).toEqual(['inner', 'outer']);
    expect(await post('/transaction', {}, { fails: true })).toBe(200);
    expect(await post('')).toBe(200);
    expect((await mails(2)).map(([text]) => text).sort()).toEqual(['booked', 'outer']);
  });

  it('is dropped with a transaction that is rolled back', async () => {
    expect(await post('/run', {}, { fails: true })).toBe(500);
    expect(await post('/run', {}, { fails: false })).toBe(200);
    expect(await mails()).toEqual([['booked', 1]]);
  });

  it('fails nobody', async () => {
    server.takeLog();
    expect(await post('/failing')).toBe(200);
    expect(server.takeLog()).toContainEqual(expect.objectContaining({ level: 'error', message: 'no mail server' }));
  });
});
