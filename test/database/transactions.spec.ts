import { type INestApplicationContext, Logger } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type QueryRunner, type Repository } from 'typeorm';
import { OrganizationEntity } from '../../src/access/organization.entity';
import { OrganizationsService } from '../../src/access/organizations.service';
import { dataSourceOptions } from '../../src/data/database/data-source';
import { createDataSource } from '../../src/data/database/data-source.module';
import { Pruner } from '../../src/data/database/pruner';
import { TransactionalDataSource } from '../../src/data/database/transactional-data-source';
import { Transactions } from '../../src/data/database/transactions';
import { Writes } from '../../src/data/database/writes';
import type { LeadsQuery } from '../../src/contexts/leads/lead.dto';
import { LeadsService } from '../../src/contexts/leads/leads.service';
import { leadInput } from '../support/builders';
import { createTestDatabase } from '../support/database';
import { operatorServices } from '../support/operator-services';
import { FeedSender } from '../../src/feed/changes/feed-sender';
import { waitUntil } from '../support/wait';

Logger.overrideLogger(false);

describe('a transaction', () => {
  it('has all that injected repositories of several services do, or nothing', async () => {
    const services = await operatorServices((await createTestDatabase()).url);
    const organizations = services.get(OrganizationsService);
    const repository = services.get<Repository<OrganizationEntity>>(getRepositoryToken(OrganizationEntity));
    const failing = services.get(Transactions).run(async () => {
      await organizations.create('First');
      await repository.insert({ name: 'Second' });
      expect(await repository.count()).toBe(2);
      throw new Error('third');
    });
    await expect(failing).rejects.toThrow('third');
    expect(await organizations.isEmpty()).toBe(true);
    await services.get(Transactions).run(() => organizations.create('First'));
    expect(await repository.count()).toBe(1);
  });

  it('is over for work that goes on after it', async () => {
    const services = await operatorServices((await createTestDatabase()).url);
    const transactions = services.get(Transactions);
    await transactions.run(() => Promise.resolve());
    expect(transactions.manager).toBeUndefined();
  });
});

describe('a service of Lanyard', () => {
  const ways: Record<string, (services: INestApplicationContext, work: () => Promise<void>) => Promise<void>> = {
    'dataSource.transaction': (services, work) => services.get(DataSource).transaction(work),
    'dataSource.transaction of a level': (services, work) =>
      services.get(DataSource).transaction('REPEATABLE READ', work),
    'manager.transaction': (services, work) => services.get(DataSource).manager.transaction(work),
    'a nested transaction': (services, work) =>
      services.get(DataSource).transaction((manager) => manager.transaction(work)),
    'Writes.transaction': (services, work) => services.get(Writes).transaction(CALLER, work),
    'Transactions.run': (services, work) => services.get(Transactions).run(work),
    'Transactions.runOn': async (services, work) => {
      const runner = services.get(DataSource).createQueryRunner();
      await runner.startTransaction();
      try {
        await services.get(Transactions).runOn(runner.manager, work);
        await runner.commitTransaction();
      } catch (error) {
        await runner.rollbackTransaction();
        throw error;
      } finally {
        await runner.release();
      }
    },
  };
  const CALLER = { organizationId: 1, keyId: '' };

  it.each(Object.keys(ways))('takes part in the transaction of %s', async (name) => {
    const run = ways[name]!;
    const services = await operatorServices((await createTestDatabase()).url);
    await services.get(OrganizationsService).create('First');
    const leads = services.get(LeadsService, { strict: false });
    const { id } = JSON.parse(await leads.create(CALLER, leadInput())) as { id: string };
    const totals = async () => (await leads.list(CALLER, { limit: 5, offset: 0 } as LeadsQuery)).total;
    const change = async (fails: boolean): Promise<void> => {
      await services.get(DataSource).query('select from leads where id = $1 for update', [id]);
      await leads.patch(CALLER, id, { jobTitle: 'Buyer' });
      await leads.create(CALLER, leadInput());
      if (fails) throw new Error('the second write fails');
    };
    await expect(run(services, () => change(true))).rejects.toThrow('the second write fails');
    expect([JSON.parse(await leads.get(CALLER, id)), await totals()]).toEqual([
      expect.not.objectContaining({ jobTitle: 'Buyer' }),
      1,
    ]);
    await run(services, () => change(false));
    expect([JSON.parse(await leads.get(CALLER, id)), await totals()]).toEqual([
      expect.objectContaining({ jobTitle: 'Buyer' }),
      2,
    ]);
  });

  it('uses a connection of its own in work that outlives the transaction', async () => {
    const services = await operatorServices((await createTestDatabase()).url);
    const dataSource = services.get(DataSource);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let late: Promise<unknown> | undefined;
    await dataSource.transaction(() => {
      late = ended.then(() => dataSource.query('select 1 as one'));
      return Promise.resolve();
    });
    end();
    expect(await late).toEqual([{ one: 1 }]);
  });
});

describe('repositories', () => {
  /** A pool of which requests queue for three connections: the share of one organization is two. */
  const small = async (): Promise<TransactionalDataSource> => {
    const { url } = await createTestDatabase();
    const dataSource = await createDataSource(dataSourceOptions(url, 5));
    return dataSource.initialize() as Promise<TransactionalDataSource>;
  };

  it('wait in the queue of the organization whose request uses them', async () => {
    const dataSource = await small();
    const { transactions, queue } = dataSource;
    const connect = (organizationId: number) =>
      new Promise<QueryRunner>((resolve, reject) => {
        transactions.runRequest(() => {
          transactions.setCaller({ organizationId, keyId: '' });
          const runner = dataSource.createQueryRunner();
          runner.connect().then(() => resolve(runner), reject);
        });
      });
    const held = await Promise.all([connect(1), connect(1)]);
    const waiting = connect(1);
    const other = await connect(2);
    expect(queue.waitingRequests).toBe(1);
    await Promise.all([...held, other].map((runner) => runner.release()));
    await (await waiting).release();
    await dataSource.destroy();
  });

  it('take turns outside of requests, so that they leave a connection to an organization that asks', async () => {
    const dataSource = await small();
    const runners = [1, 2, 3].map(() => dataSource.createQueryRunner());
    const connected: number[] = [];
    const connecting = runners.map(async (runner, n) => {
      await runner.connect();
      connected.push(n);
    });
    await waitUntil(() => Promise.resolve(connected.length === 2));
    expect(dataSource.queue.waitingRequests).toBe(1);
    expect(await dataSource.queue.run(1, () => Promise.resolve('served'))).toBe('served');
    await runners[0]?.release();
    await Promise.all(connecting);
    expect(connected).toEqual([0, 1, 2]);
    await Promise.all(runners.map((runner) => runner.release()));
    expect(dataSource.queue.waitingRequests).toBe(0);
    await dataSource.destroy();
  });

  it('give a turn back that comes after they were released', async () => {
    const dataSource = await small();
    const ends = await Promise.all([1, 2, 3].map((organization) => dataSource.queue.acquireSlot(organization)));
    const runner = dataSource.createQueryRunner();
    const connecting = Promise.resolve(runner.connect()).catch(() => undefined);
    await runner.release();
    for (const end of ends) end();
    await connecting;
    expect(await dataSource.query('select 1 as one')).toEqual([{ one: 1 }]);
    await dataSource.destroy();
  });
});

describe('a command', () => {
  it('starts nothing that a server does by itself', async () => {
    const services = await operatorServices((await createTestDatabase()).url);
    expect(() => services.get(FeedSender)).toThrow();
    expect(() => services.get(Pruner)).toThrow();
  });
});
