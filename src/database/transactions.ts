import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { afterCommitOf } from './after-commit';

/** How statements run on a connection that was handed to them. */
export interface ConnectionSettings {
  /** Timeout of each statement in milliseconds, instead of the pool's. */
  timeoutMs?: number;
  /** Whether large results do not slow down the requests of the organization, because only one connection receives them. */
  isBackground?: boolean;
}

interface CurrentConnection extends ConnectionSettings {
  manager: EntityManager;
}

/**
 * The one way in which statements and repositories find a connection that they did not open: whatever runs within `runOn`
 * uses the connection of its manager (docs/decisions/0024). Ordinary requests never enter it, since on Node.js 20 and 22
 * an AsyncLocalStorage in use makes every promise of the process slower.
 */
export class Transactions {
  private readonly storage = new AsyncLocalStorage<CurrentConnection>();
  private readonly logger = new Logger('Transactions');
  private activeRuns = 0;

  constructor(private readonly dataSource: DataSource) {}

  /** The manager whose connection is to be used, or undefined outside of `runOn`. */
  get manager(): EntityManager | undefined {
    return this.storage.getStore()?.manager;
  }

  get settings(): ConnectionSettings {
    return this.storage.getStore() ?? {};
  }

  /** Runs work on the connection of a manager. */
  async runOn<T>(manager: EntityManager, work: () => Promise<T>, settings: ConnectionSettings = {}): Promise<T> {
    this.activeRuns++;
    try {
      return await this.storage.run({ ...settings, manager }, work);
    } finally {
      this.activeRuns--;
      // The promises of other requests are as fast as before.
      if (this.activeRuns === 0) this.storage.disable();
    }
  }

  /** Runs work in one transaction, in which all services that it calls take part. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.dataSource.transaction((manager) => this.runOn(manager, work));
  }

  /**
   * Runs work once the transaction of the request is committed, or at once where there is none. It runs at most once: never
   * when the transaction is rolled back, as in a dry run, and not when the process ends before it. Nobody waits for it; its
   * errors are logged. What must happen in any case is a reaction to the change feed.
   *
   * @param manager of a transaction that was begun otherwise, by `Writes.transaction` or by TypeORM's `transaction`
   *
   * @example
   * ```ts
   * const hall = await this.halls.save(input);
   * this.transactions.afterCommit(() => this.mails.send(hall));
   * ```
   */
  afterCommit(work: () => unknown, manager = this.manager): void {
    const run = (): void => {
      // Outside of the transaction, whose connection is somebody else's by then.
      this.storage.exit(() => void this.runLogged(work));
    };
    const pending = manager?.queryRunner && afterCommitOf(manager.queryRunner);
    if (pending) pending.push(run);
    else run();
  }

  private async runLogged(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error(error);
    }
  }
}

/** Lends the runner of a transaction: release() has no effect, because the transaction releases it. */
export const lendRunner = (runner: QueryRunner): QueryRunner =>
  new Proxy(runner, {
    get: (target, name) => {
      if (name === 'release') return () => Promise.resolve();
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
