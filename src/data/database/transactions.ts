import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { Caller } from './actor';
import { afterCommitOf } from './after-commit';

/** How statements run on a connection that was handed to them. */
export interface ConnectionSettings {
  /** Timeout of each statement in milliseconds, instead of the pool's. */
  timeoutMs?: number;
  /** Whether large results do not slow down the requests of the organization, because only one connection receives them. */
  isBackground?: boolean;
}

/** What the work of a request finds without being given it. */
interface Context extends ConnectionSettings {
  /** Whose request it is; undefined before its key is checked. */
  caller?: Caller;
  manager?: EntityManager;
  /** Whether a module began the transaction on a runner of its own, so that it ends without this being told. */
  isOwnRunner?: boolean;
}

/**
 * The one way in which statements and repositories find what they were not given: whatever runs within `runOn` uses the
 * connection of its manager, and repositories wait for a connection in the queue of the request's organization and write in
 * the name of its key (docs/decisions/0024). The context holds no more than that, because whatever a request leaves behind keeps it.
 */
export class Transactions {
  private readonly storage = new AsyncLocalStorage<Context>();
  private readonly logger = new Logger('Transactions');

  constructor(private readonly dataSource: DataSource) {}

  /**
   * The manager whose connection is to be used, or undefined outside of `runOn`, and for work that outlives its transaction.
   * @internal
   */
  get manager(): EntityManager | undefined {
    const { manager, isOwnRunner } = this.storage.getStore() ?? {};
    if (manager?.queryRunner?.isReleased) return undefined;
    return isOwnRunner && !manager?.queryRunner?.isTransactionActive ? undefined : manager;
  }

  /**
   * Lets the services that the request calls from now on take part in the transaction that begins on a runner of a module's own,
   * as Nest's documentation opens it. Other requests, and what runs beside it in this one, do not.
   * @internal
   */
  beginOn(manager: EntityManager): void {
    const context = this.storage.getStore();
    if (context) this.storage.enterWith({ ...context, manager, isOwnRunner: true });
  }

  /** Runs work that may begin transactions of its own, which the caller of this takes no part in. @internal */
  isolate<T>(work: () => Promise<T>): Promise<T> {
    const context = this.storage.getStore();
    return context ? this.storage.run({ ...context }, work) : work();
  }

  /** Whose request it is, or undefined outside of requests and before the key is checked. @internal */
  get caller(): Caller | undefined {
    return this.storage.getStore()?.caller;
  }

  /** @internal */
  get settings(): ConnectionSettings {
    return this.storage.getStore() ?? {};
  }

  /** Handles a request, whose caller is set by `setCaller`. @internal */
  runRequest(work: () => void): void {
    this.storage.run({ caller: undefined }, work);
  }

  /** Sets the caller of the request that calls this. It has no effect outside of `runRequest`. @internal */
  setCaller(caller: Caller): void {
    const context = this.storage.getStore();
    if (context) context.caller = caller;
  }

  /**
   * Runs work on the connection of a manager. All services and repositories that it calls use that connection. Only a query
   * runner that you opened yourself needs it: `transaction` of a data source, a manager and `Writes` do the same.
   *
   * @example
   * ```ts
   * await runner.startTransaction();
   * await this.transactions.runOn(runner.manager, () => this.leads.patch(caller, id, { jobTitle }));
   * await runner.commitTransaction();
   * ```
   */
  runOn<T>(manager: EntityManager, work: () => Promise<T>, settings: ConnectionSettings = {}): Promise<T> {
    return this.storage.run({ ...settings, caller: this.caller, manager }, work);
  }

  /** Runs work in one transaction, in which all services that it calls take part. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.dataSource.transaction(() => work());
  }

  /**
   * Runs work when the transaction of the request has been committed, or immediately if there is none. Work runs at most once:
   * it does not run if the transaction is rolled back, as in a dry run, or if the process ends first. The request does not wait
   * for it, and its errors are logged. What must never be missed belongs in a method with `@OnChanges`.
   *
   * @example
   * ```ts
   * const hall = await this.halls.save(input);
   * this.transactions.afterCommit(() => this.mails.send(hall));
   * ```
   */
  afterCommit(work: () => unknown): void {
    const run = (): void => {
      // Outside of the transaction, whose connection is somebody else's by then.
      this.storage.run({ caller: this.caller }, () => void this.runLogged(work));
    };
    const runner = this.manager?.queryRunner;
    const pending = runner && afterCommitOf(runner);
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
