import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import { LinkedList } from './linked-list';
import { actorOf, actorsOf, SET_ACTOR } from './actor';
import { Batcher } from './batcher';
import { NeedsMoreTime, NotCommitted, Overloaded, RowNotFound } from '../../errors/exceptions';
import { CANCELED } from '../../errors/sql-state-codes';
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

/** An input of a batch. All callers of a batch belong to one organization. */
interface BatchInput {
  caller: Caller;
  input: object;
}

type Work<T> = (manager: EntityManager) => Promise<T>;

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
    private readonly dataSource: TransactionalDataSource,
  ) {}

  /** The number of requests that wait for a connection. */
  get waitingRequests(): number {
    return this.dataSource.queue.waitingRequests + this.longWriteQueue.waitingRequests;
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
  deleteLong(caller: Caller, statement: Statement, values: unknown[]): Promise<void> {
    const work = async (): Promise<void> => {
      if ((await this.statements.execute(caller, statement, values)) === 0) throw new RowNotFound();
    };
    return this.transaction(caller, work, true);
  }

  /** Retries work, unless it runs in a request's transaction, which is retried as a whole. */
  private retryUnlessInTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.dataSource.transactions.manager ? work() : withRetries(work);
  }

  /**
   * Runs a write whose concurrent inputs of one organization are batched into one statement. Its `$2` is a JSON array of
   * inputs, and it returns a row for each of them, in the same order. It inserts at most one row for each, at ascending
   * positions of its list, by which the audit log knows whose key created which row.
   */
  writeBatched(caller: Caller, statement: Statement, input: object): Promise<JsonText> {
    if (this.dataSource.transactions.manager)
      return this.statements.selectOne(caller, statement, [JSON.stringify([input])]);
    const batcher = this.batchers.get(statement) ?? new Batcher(this.createBatchWorker(statement), MAX_BATCH_SIZE);
    this.batchers.set(statement, batcher);
    return batcher.add(caller.organizationId, { caller, input });
  }

  private createBatchWorker(statement: Statement) {
    return async (items: BatchInput[]): Promise<JsonText[]> => {
      const callers = items.map(({ caller }) => caller);
      const inputs = JSON.stringify(items.map(({ input }) => input));
      const rows = await withRetries(() =>
        this.statements.selectJson(callers[0]!, statement, [inputs], actorsOf(callers)),
      );
      // Otherwise a request would get the row of another one.
      if (rows.length !== items.length) {
        throw new Error(`'${statement.name}' gives ${rows.length} rows for ${items.length} inputs`);
      }
      return rows;
    };
  }

  /**
   * Runs work in a transaction, in which all services that it calls take part. After a deadlock or a similar error, work runs
   * again; within an outer transaction, such as that of a dry run, the outer one runs again.
   * @param mayTakeLong Whether work may cascade to a million rows. If it is canceled after the time of a statement, it then runs
   * once more with a longer one.
   */
  async transaction<T>(caller: Caller, work: Work<T>, mayTakeLong = false): Promise<T> {
    const { queue, transactions } = this.dataSource;
    const { manager } = transactions;
    try {
      return await (manager ? work(manager) : this.runInQueue(queue, caller, work));
    } catch (error) {
      const needsMoreTime = error instanceof NeedsMoreTime || (mayTakeLong && hasSqlState(error, CANCELED));
      if (!needsMoreTime) throw error;
      if (manager) throw new NeedsMoreTime(error);
      return this.runInQueue(this.longWriteQueue, caller, (own) => this.runWithMoreTime(own, work));
    }
  }

  private runInQueue<T>(queue: FairQueue, caller: Caller, work: Work<T>): Promise<T> {
    return withRetries(() => queue.run(caller.organizationId, () => this.runInTransaction(caller, work)));
  }

  /** Runs work with the timeout of long statements. PostgreSQL cancels it soon after its client is gone. */
  private async runWithMoreTime<T>(manager: EntityManager, work: Work<T>): Promise<T> {
    const connection = (await manager.queryRunner?.connect()) as Client;
    await manager.query(`set local statement_timeout = ${LONG_STATEMENT_TIMEOUT_MS}`);
    await manager.query(`set local client_connection_check_interval = ${CONNECTION_CHECK_INTERVAL_MS}`);
    if (this.isStopping) throw new Overloaded('The server stops');
    const entry = this.longWrites.add(connection);
    try {
      const timeoutMs = LONG_STATEMENT_TIMEOUT_MS + QUERY_TIMEOUT_MS - STATEMENT_TIMEOUT_MS;
      return await this.dataSource.transactions.runOn(manager, () => work(manager), { timeoutMs });
    } finally {
      this.longWrites.remove(entry);
    }
  }

  /**
   * Runs work in a transaction and rolls it back. The result is that of real work; deferred constraints are checked, too.
   * @internal
   */
  dryRun<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    return this.transaction(caller, async (manager) => {
      const result = await work();
      await manager.query('set constraints all immediate');
      await manager.queryRunner?.rollbackTransaction();
      return result;
    });
  }

  /**
   * Like `dataSource.transaction`, but closes a connection that does not respond: a rollback would wait for it again.
   * @throws NotCommitted when the connection was lost before the commit was sent
   */
  private async runInTransaction<T>(caller: Caller, work: Work<T>): Promise<T> {
    const runner = this.dataSource.createReservedRunner();
    const connection = (await runner.connect()) as Client;
    let isCommitting = false;
    try {
      await runner.startTransaction();
      if (this.dataSource.isAudited) await runner.query(SET_ACTOR, [actorOf(caller)]);
      const result = await this.dataSource.transactions.runOn(runner.manager, () => work(runner.manager));
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
