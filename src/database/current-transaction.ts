import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';

/**
 * The transaction of a request with an Idempotency-Key, or of a dry run, in which its handler runs: statements find it here,
 * and so do injected repositories. Other requests never enter it, since on Node.js 20 the first use makes every promise of
 * the process slower.
 */
@Injectable()
export class CurrentTransaction {
  private readonly storage = new AsyncLocalStorage<{ manager: EntityManager; timeoutMs?: number }>();

  constructor(dataSource: DataSource) {
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      const runner = this.manager?.queryRunner;
      return runner ? lent(runner) : create(mode);
    };
  }

  get manager(): EntityManager | undefined {
    return this.storage.getStore()?.manager;
  }

  /** For the statements of a transaction that has more time than others. */
  get timeoutMs(): number | undefined {
    return this.storage.getStore()?.timeoutMs;
  }

  run<T>(manager: EntityManager, work: () => Promise<T>, timeoutMs?: number): Promise<T> {
    return this.storage.run({ manager, timeoutMs }, work);
  }
}

/** The runner for somebody who believes that it is a runner of one's own: its release is left to the transaction. */
const lent = (runner: QueryRunner): QueryRunner =>
  new Proxy(runner, {
    get: (target, name) => {
      if (name === 'release') return () => Promise.resolve();
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
