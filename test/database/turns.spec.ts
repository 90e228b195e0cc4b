import { NotFoundException } from '@nestjs/common';
import { DataSource, QueryRunner } from 'typeorm';
import { DatabaseSilent, MOST_WAITING, Overloaded, Turns } from '../../src/database/turns';
import { leadInput } from '../support/builders';
import { lockWaits, query, until } from '../support/embedded-fixtures';
import { InProcess, startInProcess, Tenant } from '../support/lanyard';

/** Work that the test ends by hand. */
function underWay(turns: Turns) {
  const started: { name: string; end: (error?: Error) => void }[] = [];
  const outcomes: Record<string, unknown> = {};
  const ask = (name: string): void => {
    const organizationId = name.charCodeAt(0);
    const work = (): Promise<void> =>
      new Promise((resolve, reject) => started.push({ name, end: (error) => (error ? reject(error) : resolve()) }));
    turns.run(organizationId, work).then(
      () => (outcomes[name] = 'done'),
      (error: Error) => (outcomes[name] = error.constructor),
    );
  };
  const end = async (name: string, error?: Error): Promise<void> => {
    started.find((one) => one.name === name)?.end(error);
    await settled();
  };
  return { ask, end, outcomes, names: () => started.map(({ name }) => name) };
}
const settled = (): Promise<void> => jest.advanceTimersByTimeAsync(0).then(() => undefined);

describe('turns', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('leave a connection to others, however much one organization asks for', async () => {
    const { ask, names } = underWay(new Turns(5));
    for (const n of [1, 2, 3, 4, 5, 6, 7]) ask(`a${n}`);
    ask('b1');
    ask('b2');
    expect(names()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('are never all of one organization, however few they are', () => {
    for (const [connections, share] of [
      [1, 1],
      [2, 1],
      [4, 3],
      [6, 4],
      [10, 8],
    ] as const) {
      const { ask, names } = underWay(new Turns(connections));
      for (let n = 0; n < connections; n++) ask(`a${n}`);
      expect(names()).toHaveLength(share);
    }
  });

  it('go round the organizations, and in each the first comes first', async () => {
    const { ask, end, names } = underWay(new Turns(1));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) ask(name);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'c2']) await end(name);
    expect(names()).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'c2', 'a4']);
  });

  it('come after a failure too', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(1));
    ask('a1');
    ask('a2');
    await end('a1', new TypeError());
    expect(names()).toEqual(['a1', 'a2']);
    await end('a2');
    expect(outcomes).toEqual({ a1: TypeError, a2: 'done' });
  });

  it('do not come when the database has answered nobody for longer than a statement may take', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(1));
    ask('a1');
    ask('b1');
    await jest.advanceTimersByTimeAsync(1599);
    expect(outcomes).toEqual({});
    await jest.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual({ b1: DatabaseSilent });
    await end('a1');
    expect(names()).toEqual(['a1']);
  });

  it('come after this process stood still: the answer may have come meanwhile', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(1));
    ask('a1');
    ask('b1');
    jest.advanceTimersByTime(1600);
    await end('a1');
    await new Promise(setImmediate);
    expect(outcomes).toEqual({ a1: 'done' });
    expect(names()).toEqual(['a1', 'b1']);
  });

  it('are not taken from others by who has got one in the last moment', async () => {
    const { ask, end, names } = underWay(new Turns(1, 1, true));
    for (const name of ['a1', 'b1']) ask(name);
    await jest.advanceTimersByTimeAsync(9_999);
    ask('b2');
    jest.advanceTimersByTime(1);
    await end('a1');
    await new Promise(setImmediate);
    await end('b1');
    expect(names()).toEqual(['a1', 'b1', 'b2']);
  });

  it('do not come when it answered somebody at first, and then nobody for that long', async () => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    for (const name of ['a1', 'b1', 'c1']) ask(name);
    await jest.advanceTimersByTimeAsync(500);
    await end('a1');
    await jest.advanceTimersByTimeAsync(1600);
    expect(outcomes).toEqual({ a1: 'done', c1: DatabaseSilent });
  });

  it('do not come when it last answered that long ago', async () => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    ask('a1');
    ask('b1');
    await jest.advanceTimersByTimeAsync(500);
    ask('c1');
    await end('a1');
    await jest.advanceTimersByTimeAsync(1599);
    expect(outcomes).toEqual({ a1: 'done' });
    await jest.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual({ a1: 'done', c1: DatabaseSilent });
  });

  it('of long work are waited for in silence, though not for ever', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(2, 1, true));
    for (const name of ['a1', 'a2', 'b1', 'c1']) ask(name);
    expect(names()).toEqual(['a1', 'b1']);
    await jest.advanceTimersByTimeAsync(9_999);
    expect(outcomes).toEqual({});
    await end('b1', new Error('Query read timeout'));
    expect(names()).toEqual(['a1', 'b1', 'c1']);
    await jest.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual({ b1: Error, a2: Overloaded });
  });

  it('say how many wait for theirs', async () => {
    const turns = new Turns(1);
    const { ask, end } = underWay(turns);
    expect(turns.waitingRequests).toBe(0);
    for (const name of ['a1', 'a2', 'a3', 'b1']) ask(name);
    expect(turns.waitingRequests).toBe(3);
    await end('a1');
    expect(turns.waitingRequests).toBe(2);
  });

  it('do not come any more to who has waited for a database that then gave no answer', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(1));
    ask('a1');
    ask('b1');
    ask('c1');
    await jest.advanceTimersByTimeAsync(190);
    ask('d1');
    await jest.advanceTimersByTimeAsync(10);
    await end('a1', new Error('Query read timeout'));
    expect(outcomes).toEqual({ a1: Error, b1: DatabaseSilent, c1: DatabaseSilent });
    expect(names()).toEqual(['a1', 'd1']);
  });

  it.each([
    ['an error of a statement', Object.assign(new Error(), { code: '23505' })],
    ['nothing found', new NotFoundException()],
  ])('come after %s, which is an answer', async (_, error) => {
    const { ask, end, names } = underWay(new Turns(1));
    ask('a1');
    ask('b1');
    await jest.advanceTimersByTimeAsync(500);
    await end('a1', error);
    expect(names()).toEqual(['a1', 'b1']);
  });

  it('are waited for while the database answers others, though not for ever', async () => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    for (let n = 1; n <= 30; n++) ask(`a${n}`);
    for (let n = 1; n <= 20; n++) {
      await jest.advanceTimersByTimeAsync(500);
      await end(`a${n}`);
    }
    expect(Object.values(outcomes).filter((outcome) => outcome === 'done')).toHaveLength(20);
    expect(outcomes.a30).toBe(Overloaded);
  });

  it('are waited for as long by those who come later', async () => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    await jest.advanceTimersByTimeAsync(60_000);
    for (let n = 1; n <= 30; n++) ask(`a${n}`);
    for (let n = 1; n <= 19; n++) {
      await jest.advanceTimersByTimeAsync(500);
      await end(`a${n}`);
    }
    expect(outcomes.a30).toBeUndefined();
  });

  it.each([
    ['an error of PostgreSQL', Object.assign(new Error(), { code: '23505' }), undefined],
    ['no answer', new Error('Query read timeout'), DatabaseSilent],
  ])('are waited for when others got an answer, which %s is or is not', async (_, error, outcome) => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    for (const name of ['a1', 'a2', 'a3']) ask(name);
    await jest.advanceTimersByTimeAsync(500);
    await end('a1', error);
    await jest.advanceTimersByTimeAsync(500);
    expect(outcomes.a3).toBe(outcome);
  });

  it('come to those who still wait when another one gave up', async () => {
    const { ask, end, outcomes, names } = underWay(new Turns(1));
    ask('a1');
    ask('a2');
    await jest.advanceTimersByTimeAsync(500);
    ask('a3');
    await jest.advanceTimersByTimeAsync(1200);
    expect(outcomes).toEqual({ a2: DatabaseSilent });
    await end('a1');
    expect(names()).toEqual(['a1', 'a3']);
  });

  it('are of one share, however often connections were given back', async () => {
    const { ask, end, names } = underWay(new Turns(5));
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) ask(name);
    await end('a1');
    await end('b1');
    ask('a6');
    expect(names()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'a5']);
    await end('a2');
    expect(names()).toContain('a6');
  });

  it('that have come are looked after no more', async () => {
    const { ask, end, outcomes } = underWay(new Turns(1));
    for (const name of ['a1', 'b1', 'c1', 'c2']) ask(name);
    for (const name of ['a1', 'b1', 'c1']) await end(name);
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(60_000);
    await end('c2');
    expect(outcomes).toEqual({ a1: 'done', b1: 'done', c1: 'done', c2: 'done' });
  });

  it('are so many and no more', async () => {
    const { ask, outcomes } = underWay(new Turns(1));
    for (let n = 0; n <= MOST_WAITING + 1; n++) ask(`a${n}`);
    ask('b1');
    await settled();
    expect(outcomes).toEqual({ [`a${MOST_WAITING + 1}`]: Overloaded });
  });
});

describe('an organization whose requests are all stuck', () => {
  let lanyard: InProcess;
  let other: InProcess;
  let stuck: Tenant;
  let path: string;
  let holder: QueryRunner;
  beforeAll(async () => {
    lanyard = await startInProcess({ poolSize: 5 });
    other = await startInProcess({ databaseUrl: lanyard.config.databaseUrl });
  });
  afterAll(async () => {
    await other.stop();
    await lanyard.stop();
  });
  /** Its requests that change this lead wait for the lock. */
  beforeEach(async () => {
    stuck = await lanyard.tenant();
    const { body } = await stuck.api.post('/leads', leadInput()).expect(200);
    path = `/leads/${body.results.id}`;
    holder = other.app.get(DataSource).createQueryRunner();
    await holder.startTransaction();
    await holder.query('select from leads where id = $1 for update', [body.results.id]);
  });
  afterEach(() => holder.release());

  it('does not keep others, or the answer of health, waiting', async () => {
    const tenant = await lanyard.tenant();
    let answered = 0;
    const patches = Array.from({ length: 50 }, () => stuck.api.patch(path, { jobTitle: 'x' }).then(() => answered++));
    await tenant.api.post('/leads', leadInput()).expect(200);
    const { status } = await fetch(lanyard.baseUrl.replace('/api/v0', '/health/ready'));
    expect({ status, answered }).toEqual({ status: 200, answered: 0 });
    await holder.rollbackTransaction();
    await Promise.all(patches);
  });

  it('does not, with another one that is stuck too, keep keys from being looked up, nor health from its answer', async () => {
    const [second, tenant] = [await lanyard.tenant(), await lanyard.tenant()];
    const { body } = await second.api.post('/leads', leadInput()).expect(200);
    await holder.query('select from leads where id = $1 for update', [body.results.id]);
    const patches = Array.from({ length: 5 }, () => [
      stuck.api.patch(path, { jobTitle: 'x' }).then(({ status }) => status),
      second.api.patch(`/leads/${body.results.id}`, { jobTitle: 'x' }).then(({ status }) => status),
    ]).flat();
    await until(async () => (await lockWaits(lanyard.config.databaseUrl as string)) === 5);
    const asked = tenant.api.get('/leads').expect(200);
    const { status } = await fetch(lanyard.baseUrl.replace('/api/v0', '/health/ready'));
    expect(status).toBe(200);
    await asked;
    await holder.rollbackTransaction();
    await Promise.all(patches);
  });

  it('has its others answered when those have waited for as long as they may', async () => {
    const patches = Array.from({ length: 4 }, () =>
      stuck.api.patch(path, { jobTitle: 'x' }).then(({ status }) => status),
    );
    await until(async () => (await lockWaits(lanyard.config.databaseUrl as string)) === 4);
    const connections = (): Promise<unknown[]> =>
      query(
        lanyard.config.databaseUrl as string,
        "select pid from pg_stat_activity where datname = current_database() and application_name = 'lanyard'",
      );
    const before = await connections();
    await stuck.api.get(path).expect(200);
    expect(await Promise.all(patches)).toEqual([503, 503, 503, 503]);
    // They are as good as before, and know their statements.
    expect(await connections()).toEqual(expect.arrayContaining(before));
    await holder.rollbackTransaction();
  });
});
