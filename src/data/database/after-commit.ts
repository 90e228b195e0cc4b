import {
  type AfterQueryEvent,
  type EntitySubscriberInterface,
  EventSubscriber,
  QueryFailedError,
  type QueryRunner,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
  type TransactionStartEvent,
} from 'typeorm';
import { TransactionRolledBack } from '../../errors/exceptions';

type Work = () => void;

/** What TypeORM keeps for subscribers with a connection, also where the runner was lent. */
interface RunnerData {
  /** The work of each transaction and savepoint that is open on the connection, the innermost last. */
  afterCommit?: Work[][];
  /** The first error since the transaction, or its innermost savepoint, was begun or rolled back to. */
  failure?: Error;
  /** What PostgreSQL has done at the end of the last transaction. */
  lastCommand?: string;
}

const dataOf = (runner: QueryRunner): RunnerData => runner.data as RunnerData;

/** The work that waits for the innermost transaction of a connection, or undefined outside of transactions. */
export const afterCommitOf = (runner: QueryRunner): Work[] | undefined => dataOf(runner).afterCommit?.at(-1);

/** Notes the error of a statement, in case that the transaction is to be committed in spite of it. */
export function noteFailure(runner: QueryRunner, error: Error): void {
  const data = dataOf(runner);
  data.failure ??= error;
}

/**
 * Runs the work of `Transactions.afterCommit` when TypeORM has committed, and drops it when TypeORM has rolled back. After an error,
 * PostgreSQL responds to a COMMIT by rolling back; then the commit throws, whoever began the transaction.
 */
@EventSubscriber()
export class AfterCommitSubscriber implements EntitySubscriberInterface {
  afterQuery({ query, success, error, rawResults, queryRunner }: AfterQueryEvent): void {
    if (!success) noteFailure(queryRunner, new QueryFailedError(query, undefined, error as Error));
    else if (query === 'COMMIT') dataOf(queryRunner).lastCommand = (rawResults as { command: string }).command;
  }

  afterTransactionStart({ queryRunner }: TransactionStartEvent): void {
    const data = dataOf(queryRunner);
    data.failure = undefined;
    data.afterCommit = [...(data.afterCommit ?? []), []];
  }

  afterTransactionCommit({ queryRunner }: TransactionCommitEvent): void {
    const { afterCommit: levels = [], lastCommand, failure } = dataOf(queryRunner);
    const done = levels.pop() ?? [];
    const outer = levels.at(-1);
    if (!outer && lastCommand === 'ROLLBACK') throw new TransactionRolledBack(failure);
    // A savepoint may still be rolled back with its transaction.
    if (outer) outer.push(...done);
    else for (const work of done) work();
  }

  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    const data = dataOf(queryRunner);
    data.failure = undefined;
    data.afterCommit?.pop();
  }
}
