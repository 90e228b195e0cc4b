import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import { LinkedList } from '../collections/linked-list';
import { actorOf, actorsOf, SET_ACTOR } from './actor';
import { Batcher } from './batcher';
import { NeedsMoreTime, NotCommitted, Overloaded, RowNotFound } from '../errors/exceptions';
import { CANCELED } from '../errors/sql-states';
import { requiresNewConnection, hasSqlState, isConnectionError, withRetries } from './errors';
import { FairQueue } from './fair-queue';
import {
  CONNECTION_CHECK_INTERVAL_MS,
  LONG_STATEMENT_TIMEOUT_MS,
  MAX_BATCH_SIZE,
  MAX_LONG_WRITES,
  QUERY_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from './limits';
import { type Caller, type JsonText, type Statement, Statements } from './statements';
import { TransactionalDataSource } from './transactional-data-source';
import { Transactions } from './transactions';

/** An input of a batch. All callers of a batch belong to one organization. */
interface BatchInput {
  caller: Caller;
  input: object;
}

/** @param timeoutMs the timeout for its statements, if it has more time than usual */
type TransactionCallback<T> = (manager: EntityManager, timeoutMs?: number) => Promise<T>;

/** Runs the writes of requests in the request's transaction, if it has one, and retries them after a deadlock. */
@Injectable()
export class Writes implements BeforeApplicationShutdown {
  private readonly longWriteQueue = new FairQueue(MAX_LONG_WRITES, 1);
  /** The connections of the long writes under way. */
  private readonly longWrites = new LinkedList<Client>();
  private isStopping = false;
  private readonly batchers = new Map<Statement, Batcher<BatchInput, JsonText>>();

  constructor(
    private readonly statements: Statements,
    private readonly queue: FairQueue,
    private readonly transactions: Transactions,
    private readonly dataSource: TransactionalDataSource,
  ) {}

  /** The number of requests that wait for a connection. */
  get waitingRequests(): number {
    return this.queue.waitingRequests + this.longWriteQueue.waitingRequests;
  }

  /** Runs a write of one statement. @returns the JSON text of its one row @throws RowNotFound */
  write(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText> {
    return this.retryUnlessInTransaction(() => this.statements.selectOne(caller, statement, values));
  }

  /** Runs a write of one statement. @returns the JSON text of its row, or undefined when it has none */
  async writeIfAny(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText | undefined> {
    const [json] = await this.retryUnlessInTransaction(() => this.statements.selectJson(caller, statement, values));
    return json;
  }

  /** Runs a write of one statement. @returns the number of rows that it changed or deleted */
  writeAndCount(caller: Caller, statement: Statement, values: unknown[]): Promise<number> {
    return this.retryUnlessInTransaction(() => this.statements.execute(caller, statement, values));
  }

  /** Deletes one row, which may cascade to a million rows. @throws RowNotFound */
  async deleteLong(caller: Caller, statement: Statement, values: unknown[]): Promise<void> {
    const work = async (manager: EntityManager, timeoutMs?: number): Promise<void> => {
      const deletedRows = await this.statements.execute(caller, statement, values, { manager, timeoutMs });
      if (deletedRows === 0) throw new RowNotFound();
    };
    await this.transaction(caller, work, LONG_STATEMENT_TIMEOUT_MS);
  }

  /** Retries work, unless it runs in a request's transaction, which is retried as a whole. */
  private retryUnlessInTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.transactions.manager ? work() : withRetries(work);
  }

  /**
   * Runs a write whose concurrent inputs of one organization are batched into one statement. Its `$2` is a JSON array of
   * inputs, and it returns a row for each of them, in the same order. It inserts at most one row for each, at ascending
   * positions of its list, by which the audit log knows whose key created which row.
   */
  async writeBatched(caller: Caller, statement: Statement, input: object): Promise<JsonText> {
    if (this.transactions.manager) return this.statements.selectOne(caller, statement, [JSON.stringify([input])]);
    const batcher = this.batchers.get(statement) ?? new Batcher(this.createBatchWorker(statement), MAX_BATCH_SIZE);
    this.batchers.set(statement, batcher);
    const json = await batcher.add(caller.organizationId, { caller, input });
    // The statement ran in the context of another request of the batch.
    this.transactions.recordJson([json]);
    return json;
  }

  private createBatchWorker(statement: Statement) {
    return async (_: number, items: BatchInput[]): Promise<JsonText[]> => {
      const inputs = items.map(({ input }) => input);
      const caller = items[0]?.caller as Caller;
      const actor = actorsOf(items.map((item) => item.caller));
      const rows = await withRetries(() =>
        this.statements.selectJson(caller, statement, [JSON.stringify(inputs)], { actor }),
      );
      // Otherwise a request would get the row of another one.
      if (rows.length !== inputs.length) {
        throw new Error(`'${statement.name}' gives ${rows.length} rows for ${inputs.length} inputs`);
      }
      return rows;
    };
  }

  /**
   * Runs work in a transaction, in which all services that it calls take part. After a deadlock or a similar error, work runs
   * again; within an outer transaction, such as that of a dry run, the outer one runs again.
   * @param extendedTimeoutMs Timeout for work that may cascade to a million rows. Work first runs with the normal statement
   * timeout; if that cancels it, it runs once more with this one, which it must pass to its statements.
   */
  async transaction<T>(caller: Caller, work: TransactionCallback<T>, extendedTimeoutMs?: number): Promise<T> {
    if (this.transactions.manager)
      return this.runInCurrentTransaction(this.transactions.manager, work, extendedTimeoutMs);
    try {
      return await withRetries(() => this.queue.run(caller.organizationId, () => this.runInTransaction(caller, work)));
    } catch (error) {
      const longTimeoutMs = extendedTimeout(error, extendedTimeoutMs);
      if (longTimeoutMs === undefined) throw error;
      const runLongTransaction = (manager: EntityManager) => this.runLongTransaction(manager, work, longTimeoutMs);
      return withRetries(() =>
        this.longWriteQueue.run(caller.organizationId, () => this.runInTransaction(caller, runLongTransaction)),
      );
    }
  }

  /** Runs work in the transaction of a request. Only the whole transaction can be retried with more time. */
  private async runInCurrentTransaction<T>(
    manager: EntityManager,
    work: TransactionCallback<T>,
    extendedTimeoutMs?: number,
  ): Promise<T> {
    const { timeoutMs } = this.transactions.settings;
    try {
      return await work(manager, timeoutMs);
    } catch (error) {
      const longTimeoutMs = timeoutMs === undefined ? extendedTimeout(error, extendedTimeoutMs) : undefined;
      throw longTimeoutMs === undefined ? error : new NeedsMoreTime(longTimeoutMs, error);
    }
  }

  /** Runs work with an extended timeout. PostgreSQL cancels it soon after its client is gone. */
  private async runLongTransaction<T>(
    manager: EntityManager,
    work: TransactionCallback<T>,
    extendedTimeoutMs: number,
  ): Promise<T> {
    const connection = (await manager.queryRunner?.connect()) as Client;
    await manager.query(`set local statement_timeout = ${extendedTimeoutMs}`);
    await manager.query(`set local client_connection_check_interval = ${CONNECTION_CHECK_INTERVAL_MS}`);
    if (this.isStopping) throw new Overloaded('The server stops');
    const entry = this.longWrites.add(connection);
    try {
      const timeoutMs = extendedTimeoutMs + QUERY_TIMEOUT_MS - STATEMENT_TIMEOUT_MS;
      return await this.transactions.runOn(manager, () => work(manager, timeoutMs), { timeoutMs });
    } finally {
      this.longWrites.remove(entry);
    }
  }

  /**
   * Like `dataSource.transaction`, but closes a connection that does not respond: a rollback would wait for it again.
   * @throws NotCommitted when the connection was lost before the commit was sent
   */
  private async runInTransaction<T>(caller: Caller, work: TransactionCallback<T>): Promise<T> {
    const runner = this.dataSource.createReservedRunner();
    const connection = (await runner.connect()) as Client;
    let isCommitting = false;
    try {
      await runner.startTransaction();
      if (this.dataSource.isAudited) await runner.query(SET_ACTOR, [actorOf(caller)]);
      const result = await this.transactions.runOn(runner.manager, () => work(runner.manager));
      if (!runner.isTransactionActive) return result; // A dry run has been rolled back.
      isCommitting = true;
      await runner.commitTransaction();
      return result;
    } catch (error) {
      if (requiresNewConnection(error)) void connection.end();
      else if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw isConnectionError(error) && !isCommitting ? new NotCommitted(error) : error;
    } finally {
      await runner.release();
    }
  }

  /** Cancels long writes, because a server has only ten seconds to stop. PostgreSQL rolls them back. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const connection of this.longWrites) void connection.end();
  }
}

/** The extended timeout for work that failed because of the normal one, or undefined if it may not have more time. */
function extendedTimeout(error: unknown, extendedTimeoutMs?: number): number | undefined {
  if (error instanceof NeedsMoreTime) return error.timeMs;
  return hasSqlState(error, CANCELED) ? extendedTimeoutMs : undefined;
}
