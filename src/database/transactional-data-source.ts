import { DataSource, type DataSourceOptions, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { AfterCommitSubscriber } from './after-commit';
import { FairQueue } from './fair-queue';
import { DEFAULT_POOL_SIZE, RESERVED_CONNECTIONS } from './limits';
import { lendRunner, Transactions } from './transactions';

/** Repositories do not know for which organization they work, so they share the turns of one that does not exist. */
const REPOSITORY_QUEUE_ID = -1;

/**
 * TypeORM's data source, with the one place where a connection for a repository is chosen: the one of `Transactions.runOn`,
 * or another of the pool when it is the repositories' turn (docs/decisions/0024).
 */
export class TransactionalDataSource extends DataSource {
  readonly transactions = new Transactions(this);
  /** The turns of organizations at the connections of the pool. */
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

  /** For repositories, managers and the data source itself, all of which ask for their connections here. */
  override createQueryRunner(mode?: 'master' | 'slave'): QueryRunner {
    const current = this.transactions.manager?.queryRunner;
    return current ? lendRunner(current) : withSlots(super.createQueryRunner(mode), this.queue);
  }

  /** For who holds a turn of an organization already, or one of the connections that are reserved. */
  createReservedRunner(): QueryRunner {
    return super.createQueryRunner();
  }
}

/** The runner, which connects when it is the repositories' turn and gives that back when it is released. */
function withSlots(runner: QueryRunner, queue: FairQueue): QueryRunner {
  const connect = runner.connect.bind(runner);
  const release = runner.release.bind(runner);
  let slot: Promise<() => void> | undefined;
  return Object.assign(runner, {
    connect: async (): Promise<unknown> => {
      slot ??= queue.acquireSlot(REPOSITORY_QUEUE_ID);
      await slot;
      // Released while it waited: nobody would give the connection back.
      if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
      return connect() as Promise<unknown>;
    },
    release: async (): Promise<void> => {
      try {
        await release();
      } finally {
        // A turn that was refused has nothing to give back.
        slot?.then(
          (end) => end(),
          () => undefined,
        );
      }
    },
  });
}
