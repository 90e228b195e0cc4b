import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import type { Caller } from '../http/caller';
import { IdempotentAnswers } from './idempotent-answers';
import { Json, oneWithin, Statements } from './statements';
import { inTransaction, retried } from './transaction';
import { Turns } from './turns';

/** Milliseconds that a long write may take; load balancers often give up after a minute. */
const LONG = 50_000;

/** Writes of requests: run again where that helps, and under an Idempotency-Key once. */
@Injectable()
export class Writes {
  constructor(
    private readonly statements: Statements,
    private readonly answers: IdempotentAnswers,
    private readonly turns: Turns,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /**
   * A write of one statement.
   * @param name unique name of the prepared statement
   * @returns the JSON text of its one row
   * @throws NotFoundException when it has none
   */
  one(caller: Caller, name: string, text: string, values: unknown[]): Promise<Json> {
    if (!caller.once) return retried(() => this.statements.one(caller, name, text, values));
    return this.transaction(caller, (manager) => oneWithin(manager, name, text, values));
  }

  /** A write of one statement that may touch a million rows, and so take longer than others may. */
  long(caller: Caller, name: string, text: string, values: unknown[]): Promise<Json> {
    return this.transaction(caller, async (manager) => {
      await manager.query(`set local statement_timeout = ${LONG}`);
      return oneWithin(manager, name, text, values, LONG);
    });
  }

  /** A write of several statements: all of them or none. Inside, only the passed manager may be touched. */
  transaction(caller: Caller, work: (manager: EntityManager) => Promise<Json>): Promise<Json> {
    const { organizationId, keyId, once } = caller;
    const inside = (manager: EntityManager) => (once ? this.answers.once(manager, keyId, once, work) : work(manager));
    return retried(() => this.turns.run(organizationId, () => inTransaction(this.dataSource, inside)));
  }
}
