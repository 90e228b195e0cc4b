import { Injectable } from '@nestjs/common';
import { Expose } from 'class-transformer';
import type { Pool, PoolClient } from 'pg';
import { RowNotFound } from '../../errors/exceptions';
import { actorOf, type Caller, isWrite, withActor } from './actor';
import { poolOf } from './data-source';
import { requiresNewConnection } from './errors';
import { noteFailure } from './after-commit';
import { LargeResultGuard, type Result, type TimedQuery } from './large-result-guard';
import type { PagedList } from './paginate';
import { TransactionalDataSource } from './transactional-data-source';

export type { Caller };

/**
 * One JSON value as text. PostgreSQL renders it, and a response has it unchanged; within an object, it is sent as its value.
 *
 * @example
 * ```ts
 * const lead = JSON.parse(await this.leads.get(caller, id)) as { firstName: string };
 * ```
 */
export class JsonText {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  /** The value. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }

  /** Nest's ClassSerializerInterceptor copies a result property by property, and this is the `toJSON` of the copy. @internal */
  @Expose({ name: 'toJSON' })
  toJSONOfCopy(): () => unknown {
    return () => this.toJSON();
  }
}

declare global {
  interface JSON {
    /** The value of a JSON text of a statement or a service. */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as for a string: this overload is tried for an argument of any type
    parse(text: JsonText): any;
  }
}

/** What a page of a list consists of. */
export interface PageFields {
  /** The number of items per page. */
  limit: number;
  /** The zero-based index of the page. */
  offset: number;
  /** JSON texts, or plain objects. */
  items: (JsonText | object)[];
  /** The number of records that match the query. */
  total: number;
}

/**
 * One page of a list.
 *
 * @example
 * ```ts
 * return new Page({ limit, offset, items, total });
 * ```
 */
export class Page implements PageFields {
  readonly limit: number;
  readonly offset: number;
  readonly items: (JsonText | object)[];
  readonly total: number;

  constructor({ limit, offset, items, total }: PageFields) {
    this.limit = limit;
    this.offset = offset;
    this.items = items;
    this.total = total;
  }

  /** Tells a page from other results, also after Nest's ClassSerializerInterceptor has copied it. @internal */
  @Expose()
  copyOf(): typeof Page {
    return Page;
  }

  /** @internal */
  static isPage(result: unknown): result is Page {
    return result instanceof Page || (result as { copyOf?: unknown } | null | undefined)?.copyOf === Page;
  }
}

/** A prepared statement. */
export interface Statement {
  /** The unique name of the prepared statement. */
  name: string;
  /** SQL with `$n` parameters. The first column of its rows is JSON text; most statements have no other column. */
  text: string;
  /** Whether it belongs to no organization, like those of the catalog. Then `$1` is the first value. */
  isShared?: boolean;
}

const ignore = (): void => undefined;

/** What the driver has read into a value, such as a number or a `jsonb`, becomes text again. */
const toJsonText = (column: unknown): JsonText =>
  new JsonText(typeof column === 'string' ? column : JSON.stringify(column));

const prepared = ({ name, text }: Statement, values: unknown[]): TimedQuery => ({
  name,
  text,
  values,
  rowMode: 'array',
});

/**
 * Prepared statements: one round trip and no planning each. They run on the connection of the transaction that they are
 * called in, or else on one of the pool. `$1` is the organization of the caller, unless the statement is shared, and the values
 * follow. PostgreSQL rejects a statement that does not use all of its parameters, so no statement can forget the organization.
 */
@Injectable()
export class Statements {
  private readonly pool: Pool;
  private readonly results: LargeResultGuard;
  /** What is sent for each statement: itself, or, if it changes rows, one that also says who writes. */
  private readonly sent = new WeakMap<Statement, Statement>();

  constructor(private readonly dataSource: TransactionalDataSource) {
    this.pool = poolOf(dataSource);
    this.results = new LargeResultGuard(dataSource.queue);
    // An error on an idle connection would end the process if nobody listened. The pool itself drops the connection.
    // It may have connected before this listener existed.
    const guarded = new WeakSet<PoolClient>();
    this.pool.on('acquire', (client) => {
      if (guarded.has(client)) return;
      guarded.add(client);
      client.on('error', ignore);
    });
  }

  /** The JSON text of a statement's one row. @throws RowNotFound */
  async selectOne(caller: Caller, statement: Statement, values: unknown[]): Promise<JsonText> {
    const [json] = await this.selectJson(caller, statement, values);
    if (json === undefined) throw new RowNotFound();
    return json;
  }

  /**
   * The JSON texts of a statement's rows.
   * @param actor who writes, if it is not the caller alone
   */
  async selectJson(caller: Caller, statement: Statement, values: unknown[], actor?: string): Promise<JsonText[]> {
    const { rows } = await this.runStatement<[unknown]>(caller, statement, values, actor);
    return rows.map(([json]) => toJsonText(json));
  }

  /** The rows of a statement with several columns. */
  async selectRows<R extends unknown[]>(caller: Caller, statement: Statement, values: unknown[]): Promise<R[]> {
    return (await this.runStatement<R>(caller, statement, values)).rows;
  }

  /** The number of rows that a statement has changed or deleted. */
  async execute(caller: Caller, statement: Statement, values: unknown[]): Promise<number> {
    return (await this.runStatement(caller, statement, values)).rowCount;
  }

  private runStatement<R extends unknown[]>(
    caller: Caller,
    statement: Statement,
    values: unknown[],
    actor?: string,
  ): Promise<Result<R>> {
    const own = statement.isShared ? values : [caller.organizationId, ...values];
    const sent = this.sentFor(statement);
    return this.run<R>(caller, prepared(sent, sent === statement ? own : [...own, actor ?? actorOf(caller)]));
  }

  /**
   * A page of a list.
   * @param listValues the values that the list is asked with
   * @throws RowNotFound when what the list belongs to does not exist
   */
  async paginate(
    caller: Caller,
    list: PagedList,
    listValues: unknown[],
    { limit, offset }: Pick<Page, 'limit' | 'offset'>,
  ): Promise<Page> {
    const values = [...(list.isShared ? listValues : [caller.organizationId, ...listValues]), limit];
    const query =
      list.firstPageText && offset === 0
        ? prepared({ name: `${list.name} first page`, text: list.firstPageText }, values)
        : prepared({ name: `${list.name} page`, text: list.text }, [...values, offset]);
    const { rows } = await this.run<[unknown, string]>(caller, query);
    const [first] = rows;
    if (!first) throw new RowNotFound();
    const items = first[0] === null ? [] : rows.map(([json]) => toJsonText(json));
    return new Page({ limit, offset, items, total: Number(first[1]) });
  }

  private sentFor(statement: Statement): Statement {
    const known = this.sent.get(statement);
    if (known) return known;
    const sent = this.dataSource.isAudited && isWrite(statement) ? withActor(statement) : statement;
    this.sent.set(statement, sent);
    return sent;
  }

  private async run<R extends unknown[]>({ organizationId }: Caller, query: TimedQuery): Promise<Result<R>> {
    const { queue, transactions } = this.dataSource;
    const { manager } = transactions;
    if (!manager) return queue.run(organizationId, () => this.query<R>(organizationId, query));
    const { timeoutMs, isBackground } = transactions.settings;
    if (timeoutMs) query.query_timeout = timeoutMs;
    const connection = (await manager.queryRunner?.connect()) as PoolClient;
    return new Promise((resolve, reject) => {
      this.results.query<R>(connection, isBackground ? undefined : organizationId, query, (error, result) => {
        if (error && manager.queryRunner) noteFailure(manager.queryRunner, error);
        if (error) reject(error);
        else resolve(result);
      });
    });
  }

  /** Unlike this, `pool.query` would close the connection even after an ordinary error of a statement. */
  private query<R extends unknown[]>(organizationId: number, query: TimedQuery): Promise<Result<R>> {
    return new Promise((resolve, reject) => {
      this.pool.connect((unreachable, client, release) => {
        if (!client) return reject(unreachable as Error);
        this.results.query<R>(client, organizationId, query, (error, result) => {
          release(error && requiresNewConnection(error) ? error : undefined);
          if (error) reject(error);
          else resolve(result);
        });
      });
    });
  }
}
