import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessService } from '../../src/access/access.service';
import { ApiKeysService, IssuedKey, KeyEnded } from '../../src/access/api-keys.service';
import { OrganizationsService } from '../../src/access/organizations.service';
import { operatorDataSourceOptions } from '../../src/database/data-source';
import { TestDatabase, testDatabase } from '../support/database';
import { lockWaits, until } from '../support/embedded-fixtures';

/** How many requests came with which key, as processes write it down when they stop and once a minute. */
describe('the use of keys', () => {
  let database: TestDatabase;
  let db: DataSource;
  let organizationId: number;
  beforeAll(async () => {
    database = await testDatabase();
    db = await new DataSource(operatorDataSourceOptions(database.url)).initialize();
    organizationId = (await new OrganizationsService(db.manager).create('Cobalt Systems')).id;
  });
  afterAll(async () => {
    await db.destroy();
    await database.drop();
  });
  afterEach(() => jest.restoreAllMocks());

  const issue = (): Promise<IssuedKey> => new ApiKeysService(db.manager).issue(organizationId);
  const use = async (process: AccessService, { key }: IssuedKey, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) expect(await process.findCaller(key)).toBeDefined();
  };
  const counted = async ({ id }: IssuedKey): Promise<number> => {
    const [{ requests }] = await db.query<[{ requests: number }]>(
      'select coalesce(sum(requests), 0)::integer as requests from key_usage where api_key_id = $1',
      [id],
    );
    return requests;
  };

  it('adds up over keys and processes', async () => {
    const [one, other] = [await issue(), await issue()];
    const processes = [new AccessService(db), new AccessService(db)] as const;
    await use(processes[0], one, 3);
    await use(processes[1], one, 4);
    await use(processes[1], other, 1);
    await Promise.all(processes.map((process) => process.onApplicationShutdown()));
    expect([await counted(one), await counted(other)]).toEqual([7, 1]);
    await use(processes[0], one, 2);
    await processes[0].onApplicationShutdown();
    expect(await counted(one)).toBe(9);
    const { lastUsedAt } = (await new ApiKeysService(db.manager).find(one.id)) ?? {};
    expect(Date.now() - Number(lastUsedAt)).toBeLessThan(60_000);
  });

  it('is kept for a day', async () => {
    const key = await issue();
    await db.query(
      `insert into key_usage select $1::uuid, date_trunc('minute', now()) - age, 100
        from unnest(array[interval '23 hours', '25 hours', '9 days']) as age`,
      [key.id],
    );
    const process = new AccessService(db);
    await use(process, key, 5);
    await process.onApplicationShutdown();
    expect(await counted(key)).toBe(105);
  });

  it('of a key that is gone is nobody’s, and that of the others is noted', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const [gone, stays] = [await issue(), await issue()];
    const process = new AccessService(db);
    await use(process, gone, 2);
    await use(process, stays, 2);
    await db.query('delete from api_keys where id = $1', [gone.id]);
    await process.onApplicationShutdown();
    expect([await counted(gone), await counted(stays), warn.mock.calls]).toEqual([0, 2, []]);
  });

  it('goes with the key', async () => {
    const key = await issue();
    await db.query('insert into key_usage values ($1, now(), 5)', [key.id]);
    await db.query('delete from api_keys where id = $1', [key.id]);
    expect(await counted(key)).toBe(0);
    const nobodys = db.query('insert into key_usage values ($1, now(), 5)', [randomUUID()]);
    await expect(nobodys).rejects.toThrow('key_usage_api_key_fkey');
  });

  it('ends with the key, which is not rotated while it is revoked', async () => {
    const { id } = await issue();
    const keys = new ApiKeysService(db.manager);
    const before = (await keys.list(organizationId)).length;
    const revoking = db.createQueryRunner();
    await revoking.startTransaction();
    await revoking.query('update api_keys set revoked_at = now() where id = $1', [id]);
    const rotated = keys.rotate(id, 60).catch((error: unknown) => error);
    await until(async () => (await lockWaits(database.url)) > 0);
    await revoking.commitTransaction();
    await revoking.release();
    expect(await rotated).toBeInstanceOf(KeyEnded);
    expect(await keys.list(organizationId)).toHaveLength(before);
  });
});
