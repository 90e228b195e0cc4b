import { DataSource, type DataSourceOptions, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { AfterCommitSubscriber } from './after-commit';
import { FairQueue } from './fair-queue';
import { DEFAULT_POOL_SIZE, RESERVED_CONNECTIONS } from './limits';
import { lendRunner, Transactions } from './transactions';

/**
 * TypeORM's data source, with the one place where a connection for a repository is chosen: the one of `Transactions.runOn`,
 * or one of the pool when the organization of the request has a free slot (docs/decisions/0024).
 */
export class TransactionalDataSource extends DataSource {
  readonly transactions = new Transactions(this);
  /** The queue of each organization for the connections of the pool. */
  readonly queue: FairQueue;

  constructor(options: DataSourceOptions) {
    super(options);
    const { poolSize = DEFAULT_POOL_SIZE } = options;
    this.queue = new FairQueue(Math.max(1, poolSize - RESERVED_CONNECTIONS));
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    this.subscribers.push(new AfterCommitSubscriber());
    return this;
  }

  /** Repositories, managers and the data source itself all get their connections here. */
  override createQueryRunner(mode?: 'master' | 'slave'): QueryRunner {
    const current = this.transactions.manager?.queryRunner;
    return current ? lendRunner(current) : this.withSlots(super.createQueryRunner(mode));
  }

  /** Creates a runner for callers that already have a slot, or use one of the reserved connections. */
  createReservedRunner(): QueryRunner {
    return super.createQueryRunner();
  }

  /** Makes a runner wait for a slot before it connects, and return the slot when it is released. */
  private withSlots(runner: QueryRunner): QueryRunner {
    const connect = runner.connect.bind(runner);
    const release = runner.release.bind(runner);
    let slot: Promise<() => void> | undefined;
    return Object.assign(runner, {
      connect: async (): Promise<unknown> => {
        slot ??= this.queue.acquireSlot(this.transactions.organizationId);
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
    });
  }
}
