import {
  DataSource,
  type DataSourceOptions,
  EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  type SelectQueryBuilder,
} from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { keepsAuditLog, withActorOf } from './actor';
import { AfterCommitSubscriber } from './after-commit';
import { FairQueue } from './fair-queue';
import { DEFAULT_POOL_SIZE, RESERVED_CONNECTIONS } from './limits';
import { PageQueryBuilder } from './page-query-builder';
import { rejectUnstorableNumbers } from './storable-numbers';
import { lendRunner, Transactions } from './transactions';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** TypeORM's manager, in whose transactions all services take part that are called within them. */
class TransactionalManager extends EntityManager {
  override transaction<T>(first: IsolationLevel | Work<T>, second?: Work<T>): Promise<T> {
    const { transactions } = this.dataSource as TransactionalDataSource;
    const { settings } = transactions;
    // DataSource.transaction passes its two parameters on, whether it has the second one or not.
    const work = typeof first === 'function' ? first : second!;
    const joined: Work<T> = (manager) => transactions.runOn(manager, () => work(manager), settings);
    return transactions.isolate(() =>
      typeof first === 'function' ? super.transaction(joined) : super.transaction(first, joined),
    );
  }
}

/**
 * TypeORM's data source, with the one place where a connection for a repository is chosen: the one of `Transactions.runOn`,
 * or one of the pool when the organization of the request has a free slot (docs/decisions/0024).
 */
export class TransactionalDataSource extends DataSource {
  readonly transactions = new Transactions(this);
  /** The queue of each organization for the connections of the pool. */
  readonly queue: FairQueue;
  /** Whether what is written here has entries in the audit log. */
  readonly isAudited: boolean;

  constructor(options: DataSourceOptions) {
    super({ ...options, subscribers: [AfterCommitSubscriber] });
    rejectUnstorableNumbers(this.driver);
    const { extra } = options as PostgresDataSourceOptions;
    this.isAudited = keepsAuditLog((extra as { options?: string } | undefined)?.options);
    const { poolSize = DEFAULT_POOL_SIZE } = options;
    this.queue = new FairQueue(Math.max(1, poolSize - RESERVED_CONNECTIONS));
  }

  /** Repositories, managers and the data source itself all get their connections here. */
  override createQueryRunner(mode?: 'master' | 'slave'): QueryRunner {
    const current = this.transactions.manager?.queryRunner;
    return current ? lendRunner(current) : this.forRequests(super.createQueryRunner(mode));
  }

  override createQueryBuilder<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    alias: string,
    runner?: QueryRunner,
  ): SelectQueryBuilder<T>;
  override createQueryBuilder(runner?: QueryRunner): SelectQueryBuilder<ObjectLiteral>;
  override createQueryBuilder<T extends ObjectLiteral>(
    first?: EntityTarget<T> | QueryRunner,
    alias?: string,
    runner?: QueryRunner,
  ): SelectQueryBuilder<T> | SelectQueryBuilder<ObjectLiteral> {
    const builder =
      alias === undefined
        ? super.createQueryBuilder(first as QueryRunner)
        : super.createQueryBuilder(first as EntityTarget<T>, alias, runner);
    return new PageQueryBuilder(builder);
  }

  override createEntityManager(queryRunner?: QueryRunner): EntityManager {
    return new TransactionalManager(this, queryRunner);
  }

  /** Creates a runner for callers that already have a slot, or use one of the reserved connections. */
  createReservedRunner(): QueryRunner {
    return super.createQueryRunner();
  }

  /**
   * Makes a runner wait for a slot before it connects, return the slot when it is released, name the key of the request in what it
   * writes, for the audit log, and let services take part in the transaction that a module begins on it.
   */
  private forRequests(runner: QueryRunner): QueryRunner {
    const connect = runner.connect.bind(runner);
    const release = runner.release.bind(runner);
    const query = runner.query.bind(runner) as (text: string, ...rest: unknown[]) => Promise<unknown>;
    const startTransaction = runner.startTransaction.bind(runner);
    let slot: Promise<() => void> | undefined;
    return Object.assign(runner, {
      startTransaction: (level?: IsolationLevel): Promise<void> => {
        this.transactions.beginOn(runner.manager);
        return startTransaction(level);
      },
      connect: async (): Promise<unknown> => {
        slot ??= this.queue.acquireSlot(this.transactions.caller?.organizationId);
        await slot;
        // The runner was released while it waited, so nobody would return the connection.
        if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
        return connect() as Promise<unknown>;
      },
      release: async (): Promise<void> => {
        try {
          await release();
        } finally {
          // A rejected slot has nothing to return.
          slot?.then(
            (end) => end(),
            () => undefined,
          );
        }
      },
      query: (text: string, ...rest: unknown[]): Promise<unknown> => {
        const caller = this.isAudited && this.transactions.caller;
        return query(caller ? withActorOf(caller, text, runner.isTransactionActive) : text, ...rest);
      },
    });
  }
}
