import { Logger } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { QueryRunner, Repository } from 'typeorm';
import { OrganizationEntity } from '../../src/access/organization.entity';
import { OrganizationsService } from '../../src/access/organizations.service';
import { dataSourceOptions } from '../../src/database/data-source';
import { createDataSource } from '../../src/database/data-source.module';
import { Pruner } from '../../src/database/pruner';
import { TransactionalDataSource } from '../../src/database/transactional-data-source';
import { Transactions } from '../../src/database/transactions';
import { createTestDatabase } from '../support/database';
import { waitUntil } from '../support/embedded-fixtures';
import { operatorServices } from '../support/operator-services';
import { WebhookSender } from '../../src/webhooks/webhook-sender';

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
          transactions.setOrganization(organizationId);
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
    const start = jest.spyOn(Pruner.prototype, 'start');
    const services = await operatorServices((await createTestDatabase()).url);
    expect(() => services.get(WebhookSender)).toThrow();
    expect(start).not.toHaveBeenCalled();
    start.mockRestore();
  });
});
