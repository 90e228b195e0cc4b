import { BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Client, type PoolClient } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import { poolOf } from './data-source';
import { IdempotentAnswers, type Once } from './idempotent-answers';
import { Json, oneWithin, type Owner, scoped, type Statement, Statements } from './statements';
import { isRefused, QUERY_CANCELED, retried, sqlState } from './errors';
import { Together } from './together';
import { Overloaded, Turns } from './turns';

/** Milliseconds that a long write may take; load balancers often give up after a minute. */
const LONG = 50_000;
/** Milliseconds more for the answer, so that it is PostgreSQL that says that the time is over. */
const ANSWER = 300;
/** How many of them a process does at a time, of each organization one: the other connections are everybody else's. */
const LONG_AT_A_TIME = 2;

/** Inputs that one statement writes at most: well below the limit of a statement's time. */
const MOST_TOGETHER = 100;

/** A client of a pool is a pg Client, which knows PostgreSQL's process, and whose end() does not wait for a statement. */
type LongConnection = PoolClient & { processID: number; end(): Promise<void> };

/** On whose behalf a write is done. */
export interface Writer extends Owner {
  /** the API key, whose idempotency keys are apart from those of others */
  keyId: string;
  /** set when the request has an Idempotency-Key */
  once?: Once;
}

/** Writes of requests: run again where that helps, and under an Idempotency-Key once. */
@Injectable()
export class Writes implements BeforeApplicationShutdown {
  private readonly longTurns = new Turns(LONG_AT_A_TIME, 1, true);
  /** connections on which long writes are under way */
  private readonly longWrites = new Set<LongConnection>();
  private isStopping = false;
  private readonly gatherings = new Map<Statement, Together<object, Json>>();

  constructor(
    private readonly statements: Statements,
    private readonly answers: IdempotentAnswers,
    private readonly turns: Turns,
    private readonly dataSource: DataSource,
  ) {}

  /**
   * A write of one statement, whose `$1` is the writer's organization.
   * @returns the JSON text of its one row
   * @throws NotFoundException when it has none
   */
  one(writer: Writer, statement: Statement, values: unknown[]): Promise<Json> {
    if (!writer.once) return retried(() => this.statements.one(writer, statement, values));
    return this.transaction(writer, (manager) => oneWithin(manager, statement, scoped(writer, values)));
  }

  /**
   * A write whose concurrent inputs of one organization are batched into one statement: its `$2` is a JSON array of
   * inputs, and it returns one row per input, in their order. They fail together, except for inputs that PostgreSQL
   * rejects: then each is tried alone. Where a row may be missing, because its parent is unknown, use `one`. An input
   * under an Idempotency-Key has a transaction of its own, in which its answer is stored.
   */
  gathered(writer: Writer, statement: Statement, input: object): Promise<Json> {
    if (writer.once) return this.one(writer, statement, [JSON.stringify([input])]);
    const all = async (organizationId: number, inputs: object[]): Promise<Json[]> => {
      const rows = await retried(() => this.statements.all({ organizationId }, statement, [JSON.stringify(inputs)]));
      // Each would be given another's.
      if (rows.length !== inputs.length) {
        throw new Error(`'${statement.name}' gives ${rows.length} rows for ${inputs.length} inputs`);
      }
      return rows;
    };
    const gathering = this.gatherings.get(statement) ?? new Together(all, MOST_TOGETHER, isRefused);
    this.gatherings.set(statement, gathering);
    return gathering.add(writer.organizationId, input);
  }

  /** A write of one statement that may touch a million rows, and so take longer than others may. */
  long(writer: Writer, statement: Statement, values: unknown[]): Promise<Json> {
    const work = async (manager: EntityManager): Promise<Json> => {
      const connection = (await manager.queryRunner?.connect()) as LongConnection;
      await manager.query(`set local statement_timeout = ${LONG}`);
      if (this.isStopping) throw new Overloaded('The server stops');
      this.longWrites.add(connection);
      try {
        return await oneWithin(manager, statement, scoped(writer, values), LONG + ANSWER);
      } finally {
        this.longWrites.delete(connection);
      }
    };
    return this.longTurns.run(writer.organizationId, () => this.transaction(writer, work));
  }

  /** A write of one statement that most often touches little, but may touch as much as a long one. */
  async oneElseLong(writer: Writer, statement: Statement, values: unknown[]): Promise<Json> {
    try {
      return await this.one(writer, statement, values);
    } catch (error) {
      if (sqlState(error) !== QUERY_CANCELED) throw error;
      return this.long(writer, statement, values);
    }
  }

  /** How many requests wait for a connection; long writes for one of theirs. */
  get waitingRequests(): number {
    return this.turns.waitingRequests + this.longTurns.waitingRequests;
  }

  /** What still runs when the clients are gone is undone: a server that is told to stop has ten seconds, not fifty. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    if (this.longWrites.size === 0) return;
    // A connection of its own, because long writes may have all of the pool's.
    const { options } = poolOf(this.dataSource);
    const client = new Client(options);
    client.on('error', () => undefined);
    try {
      await client.connect();
      for (const { processID } of this.longWrites) await client.query('select pg_cancel_backend($1)', [processID]);
    } catch {
      // A PostgreSQL that gives no answer: the connections are ended, and it finds them gone.
      for (const connection of this.longWrites) connection.end().catch(() => undefined);
    } finally {
      client.end().catch(() => undefined);
    }
  }

  /** A write of several statements: all of them or none. Inside, only the passed manager may be touched. */
  transaction(writer: Writer, work: (manager: EntityManager) => Promise<Json>): Promise<Json> {
    const { organizationId, keyId, once } = writer;
    const inside = (manager: EntityManager) => (once ? this.answers.once(manager, keyId, once, work) : work(manager));
    return retried(() => this.turns.run(organizationId, () => this.dataSource.transaction(inside)));
  }
}
