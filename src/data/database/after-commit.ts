import {
  type EntitySubscriberInterface,
  EventSubscriber,
  type QueryRunner,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
  type TransactionStartEvent,
} from 'typeorm';

type Work = () => void;

/** What TypeORM keeps for subscribers with a connection, also where the runner was lent. */
interface RunnerData {
  /** The work of each transaction and savepoint that is open on the connection, the innermost last. */
  afterCommit?: Work[][];
}

const dataOf = (runner: QueryRunner): RunnerData => runner.data as RunnerData;

/** The work that waits for the innermost transaction of a connection, or undefined outside of transactions. */
export const afterCommitOf = (runner: QueryRunner): Work[] | undefined => dataOf(runner).afterCommit?.at(-1);

/** Runs the work of `Transactions.afterCommit` when TypeORM has committed, and drops it when TypeORM has rolled back. */
@EventSubscriber()
export class AfterCommitSubscriber implements EntitySubscriberInterface {
  afterTransactionStart({ queryRunner }: TransactionStartEvent): void {
    const data = dataOf(queryRunner);
    data.afterCommit = [...(data.afterCommit ?? []), []];
  }

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const { afterCommit: levels = [] } = dataOf(queryRunner);
    const done = levels.pop() ?? [];
    const outer = levels.at(-1);
    // A savepoint may still be rolled back with its transaction.
    if (outer) outer.push(...done);
    else for (const work of done) work();
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    dataOf(queryRunner).afterCommit?.pop();
  }
}
