import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { PoolClient } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import type { Caller } from '../http/caller';
import { IdempotentAnswers } from './idempotent-answers';
import { Json, oneWithin, scoped, Statements } from './statements';
import { retried } from './transaction';
import { Overloaded, Turns } from './turns';

/** Milliseconds that a long write may take; load balancers often give up after a minute. */
const LONG = 50_000;
/** How many of them a process does at a time, of each organization one: the other connections are everybody else's. */
const LONG_AT_A_TIME = 2;

/** Writes of requests: run again where that helps, and under an Idempotency-Key once. */
@Injectable()
export class Writes implements BeforeApplicationShutdown {
  private readonly longTurns = new Turns(LONG_AT_A_TIME, 1, true);
  /** PostgreSQL's process ids of the connections on which long writes are under way */
  private readonly longWrites = new Set<number>();
  private isStopping = false;

  constructor(
    private readonly statements: Statements,
    private readonly answers: IdempotentAnswers,
    private readonly turns: Turns,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /**
   * A write of one statement, whose `$1` is the caller's organization.
   * @param name unique name of the prepared statement
   * @returns the JSON text of its one row
   * @throws NotFoundException when it has none
   */
  one(caller: Caller, name: string, text: string, values: unknown[]): Promise<Json> {
    if (!caller.once) return retried(() => this.statements.one(caller, name, text, values));
    return this.transaction(caller, (manager) => oneWithin(manager, name, text, scoped(caller, values)));
  }

  /** A write of one statement that may touch a million rows, and so take longer than others may. */
  long(caller: Caller, name: string, text: string, values: unknown[]): Promise<Json> {
    const work = async (manager: EntityManager): Promise<Json> => {
      const { processID } = (await manager.queryRunner?.connect()) as PoolClient & { processID: number };
      if (this.isStopping) throw new Overloaded();
      this.longWrites.add(processID);
      try {
        await manager.query(`set local statement_timeout = ${LONG}`);
        return await oneWithin(manager, name, text, scoped(caller, values), LONG);
      } finally {
        this.longWrites.delete(processID);
      }
    };
    return this.longTurns.run(caller.organizationId, () => this.transaction(caller, work));
  }

  /** What still runs when the clients are gone is undone: a server that is told to stop has ten seconds, not fifty. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.longWrites].map((pid) => this.dataSource.query('select pg_cancel_backend($1)', [pid])));
  }

  /** A write of several statements: all of them or none. Inside, only the passed manager may be touched. */
  transaction(caller: Caller, work: (manager: EntityManager) => Promise<Json>): Promise<Json> {
    const { organizationId, keyId, once } = caller;
    const inside = (manager: EntityManager) => (once ? this.answers.once(manager, keyId, once, work) : work(manager));
    return retried(() => this.turns.run(organizationId, () => this.dataSource.transaction(inside)));
  }
}
