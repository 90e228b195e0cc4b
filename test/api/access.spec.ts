import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessService } from '../../src/access/access.service';
import { ApiKeysService } from '../../src/access/api-keys.service';
import { newKey } from '../../src/access/key-format';
import { OrganizationsService } from '../../src/access/organizations.service';
import { dataSourceOptions, poolOf } from '../../src/database/data-source';
import { Overloaded } from '../../src/database/errors';
import { type TestDatabase, testDatabase } from '../support/database';
import { DatabaseProxy } from '../support/database-proxy';
import { startInProcess } from '../support/lanyard';

const MINUTE_MS = 60_000;

/** A data source that knows one key; the test answers its look-ups. */
function database(known: object | undefined) {
  const lookUps: { hashes: Buffer[]; answer: (rows?: object[]) => void; fail: (error: Error) => void }[] = [];
  const uses: [ids: string[], requests: number[]][] = [];
  const lookUp = (_: string, [hashes = []]: Buffer[][]): Promise<{ rows: object[] }> =>
    new Promise((resolve, fail) => {
      const all = known ? hashes.map((hash) => ({ ...known, hash: hash.toString('base64') })) : [];
      lookUps.push({ hashes, answer: (rows = all) => resolve({ rows }), fail });
    });
  const source = {
    failsToWrite: false,
    driver: { master: { query: lookUp } },
    query: (_: string, values: unknown[]) => {
      uses.push(values as (typeof uses)[0]);
      return source.failsToWrite ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  };
  const access = new AccessService(source as unknown as DataSource);
  return { source, access, lookUps, uses };
}

describe('the caller of a key', () => {
  const caller = { keyId: 'k', organizationId: 1, maxTokens: 20, refillRate: 1, expiresAt: Infinity };
  let now = 0;
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    await jest.advanceTimersByTimeAsync(milliseconds);
  };
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    now = 1_000_000;
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is looked up once for requests that arrive together', async () => {
    const { access, lookUps } = database(caller);
    const key = newKey();
    const asked = [access.findCaller(key), access.findCaller(key), access.findCaller(key)];
    expect(lookUps).toHaveLength(1);
    lookUps[0]?.answer();
    expect(await Promise.all(asked)).toEqual([caller, caller, caller]);
    void access.findCaller(newKey());
    expect(lookUps).toHaveLength(2);
  });

  it('is looked up with all others that wait, in one statement after another, and none is refused', async () => {
    const { access, lookUps } = database(caller);
    const asked = Array.from({ length: 3000 }, () => access.findCaller(newKey()));
    for (let next = 0; next < lookUps.length; next++) {
      expect(lookUps).toHaveLength(next + 1);
      lookUps[next]?.answer();
      await new Promise(setImmediate);
    }
    expect(lookUps.map(({ hashes }) => hashes.length)).toEqual([1, 1000, 1000, 999]);
    expect(await Promise.all(asked)).toEqual(asked.map(() => caller));
  });

  it('is found also when the rows have another order, or are fewer', async () => {
    const { access, lookUps } = database(undefined);
    const keys = [newKey(), newKey(), newKey(), newKey()];
    const asked = keys.map((key) => access.findCaller(key));
    lookUps[0]?.answer();
    await new Promise(setImmediate);
    const row = (n: number) => ({ ...caller, keyId: `k${n}`, hash: lookUps[1]?.hashes[n]?.toString('base64') });
    lookUps[1]?.answer([row(2), row(0)]);
    const [second, fourth] = [0, 2].map((n) => ({ ...caller, keyId: `k${n}` }));
    expect(await Promise.all(asked)).toEqual([undefined, second, undefined, fourth]);
    expect(keys.map((key) => access.cachedCaller(key))).toEqual([undefined, second, undefined, fourth]);
    await Promise.all(keys.map((key) => access.findCaller(key)));
    expect(lookUps).toHaveLength(2);
  });

  it.each([
    ['known', caller],
    ['unknown', undefined],
  ])('is cached for four seconds from the start of the look-up: %s', async (_, known) => {
    const { access, lookUps } = database(known);
    const key = newKey();
    expect(access.cachedCaller(key)).toBeUndefined();
    const asked = access.findCaller(key);
    await pass(1000);
    lookUps[0]?.answer();
    expect(await asked).toEqual(known);
    await pass(2999);
    expect([await access.findCaller(key), access.cachedCaller(key)]).toEqual([known, known]);
    expect(lookUps).toHaveLength(1);
    await pass(2);
    expect(access.cachedCaller(key)).toBeUndefined();
    void access.findCaller(key);
    expect(lookUps).toHaveLength(2);
  });

  it('is not looked up for a malformed key', async () => {
    const { access, lookUps } = database(caller);
    expect(await access.findCaller(`${newKey()}x`)).toBeUndefined();
    expect(lookUps).toEqual([]);
  });

  it('is none from the moment at which the key expires, cached or not', async () => {
    const { access, lookUps } = database({ ...caller, expiresAt: Date.now() + 1000 });
    const key = newKey();
    const asked = access.findCaller(key);
    lookUps[0]?.answer();
    expect(await asked).toBeDefined();
    await pass(999);
    expect(access.cachedCaller(key)).toBeDefined();
    await pass(1);
    expect([access.cachedCaller(key), await access.findCaller(key)]).toEqual([undefined, undefined]);
  });

  it.each([
    ['a lost connection', new Error('Connection terminated'), Overloaded],
    ['another error', new TypeError(), TypeError],
  ])('is looked up again after %s: a key is not refused for that', async (_, error, expected) => {
    const { access, lookUps } = database(caller);
    const key = newKey();
    const first = access.findCaller(key);
    lookUps[0]?.fail(error);
    await expect(first).rejects.toBeInstanceOf(expected);
    const second = access.findCaller(key);
    lookUps[1]?.answer();
    expect(await second).toEqual(caller);
  });

  const use = async ({ access, lookUps }: ReturnType<typeof database>): Promise<void> => {
    const asked = access.findCaller(newKey());
    lookUps.at(-1)?.answer();
    await asked;
  };

  it('is stored once a minute with its requests, and not in a minute without one', async () => {
    const db = database(caller);
    await use(db);
    await use(db);
    await pass(MINUTE_MS - 1);
    expect(db.uses).toEqual([]);
    await pass(1);
    expect(db.uses).toEqual([[['k'], [2]]]);
    await pass(2 * MINUTE_MS);
    expect(db.uses).toEqual([[['k'], [2]]]);
    await use(db);
    await pass(MINUTE_MS);
    expect(db.uses).toEqual([
      [['k'], [2]],
      [['k'], [1]],
    ]);
  });

  it('is stored with its requests when the server stops, once', async () => {
    const db = database(caller);
    await use(db);
    await db.access.onApplicationShutdown();
    expect([db.uses, jest.getTimerCount()]).toEqual([[[['k'], [1]]], 0]);
    await db.access.onApplicationShutdown();
    expect(db.uses).toEqual([[['k'], [1]]]);
  });

  it('is not stored when that fails, which is logged and fails no request', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const db = database(caller);
    db.source.failsToWrite = true;
    await use(db);
    await pass(MINUTE_MS);
    expect(warn.mock.calls).toEqual([[{ message: 'The usage of keys could not be stored', sqlState: undefined }]]);
  });
});

describe('keys in PostgreSQL', () => {
  let database: TestDatabase;
  let db: DataSource;
  beforeAll(async () => {
    database = await testDatabase();
    db = await new DataSource(dataSourceOptions(database.url, 2)).initialize();
  });
  afterAll(async () => {
    await db.destroy();
    await database.drop();
  });

  it('are found in a burst of invented ones, too, which leaves connections to others', async () => {
    const keys = new ApiKeysService(db.manager);
    const issue = async (settings = {}) =>
      keys.issue((await new OrganizationsService(db.manager).create('Cobalt Systems')).id, settings);
    const [one, other, revoked] = [await issue(), await issue({ maxTokens: 7, refillRate: 0.5 }), await issue()];
    await keys.revoke(revoked.id);
    const access = new AccessService(db);
    const invented = Array.from({ length: 2500 }, () => access.findCaller(newKey()));
    const asked = [one, other, revoked].map(({ key }) => access.findCaller(key));
    expect(poolOf(db).waitingCount).toBeLessThanOrEqual(1);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
    const callers = [one, other].map(({ id, organizationId, maxTokens, refillRate }) => {
      return { keyId: id, organizationId, maxTokens, refillRate, expiresAt: Infinity };
    });
    expect(await Promise.all(asked)).toEqual([...callers, undefined]);
    expect(new Set(await Promise.all(invented))).toEqual(new Set([undefined]));
  });
});

describe('a request while the database is down', () => {
  it('gets 503, never 403, unless its key is malformed', async () => {
    const database = await testDatabase();
    const proxy = await DatabaseProxy.to(database.url);
    const lanyard = await startInProcess({ databaseUrl: proxy.url });
    const { key } = await lanyard.tenant();
    await proxy.close();
    for (const valid of [key, newKey()]) {
      await lanyard.client(valid).get('/leads').expect(503).expect('Retry-After', '1');
    }
    await lanyard.client('x').get('/leads').expect(403);
    await lanyard.stop();
    await database.drop();
  });
});
