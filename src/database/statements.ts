import { Injectable, NotFoundException } from '@nestjs/common';
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import { poolOf, type TimedQuery } from './data-source';
import { leavesConnection } from './errors';
import type { Listing } from './listings';
import { Turns } from './turns';

/** JSON text that PostgreSQL rendered and that goes out as it is. */
export type Json = string;

/** One page of a list. */
export interface Page {
  /** items a page */
  limit: number;
  /** zero-based page index */
  offset: number;
  /** JSON texts of the items, each one's or joined by commas; who sends them takes them out (AnswerText says why) */
  items: Json[];
  /** records matching the query */
  total: number;
}

/** A prepared statement. */
export interface Statement {
  /** unique */
  name: string;
  /** SQL with `$n` parameters; its rows have one column, JSON text */
  text: string;
}

/** On whose behalf a statement runs. */
export interface Owner {
  organizationId: number;
}

/**
 * Prepared statements on the pool of the data source: one round trip and no planning each. `$1` is the organization of
 * the owner, and the values follow. PostgreSQL refuses a statement that has no use for one of its parameters, so none can
 * forget whose rows it may touch.
 */
@Injectable()
export class Statements {
  private readonly pool: Pool;
  private readonly pages = new Map<string, Statement & { listing: Listing }>();

  constructor(
    private readonly turns: Turns,
    dataSource: DataSource,
  ) {
    this.pool = poolOf(dataSource);
  }

  /** The JSON text of a statement's one row. @throws NotFoundException when there is none */
  async one(owner: Owner, statement: Statement, values: unknown[]): Promise<Json> {
    return found(await this.all(owner, statement, values));
  }

  /** The JSON texts of a statement's rows. */
  async all(owner: Owner, statement: Statement, values: unknown[]): Promise<Json[]> {
    return (await this.rows<[Json]>(owner, statement, scoped(owner, values))).map(([json]) => json);
  }

  /**
   * A page of a list.
   * @param given the values that the list is asked with
   * @throws NotFoundException when what the list belongs to does not exist
   */
  async page(
    owner: Owner,
    listing: Listing,
    given: unknown[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const values = listing.shared ? given : scoped(owner, given);
    const all = offset ? [...values, offset] : values;
    const statement = this.pageStatement(listing, limit, values.length, offset === 0);
    const rows = await this.rows<[Json | null, string | null]>(owner, statement, all);
    const [, total = null] = rows[0] ?? [];
    if (total === null) throw new NotFoundException();
    // The driver's promise keeps its result, in which nothing of the page may stay (AnswerText says why).
    const items = rows.splice(0).map(([json]) => json ?? '');
    return { limit, offset, items, total: Number(total) };
  }

  /** Made once: page sizes are few, and texts long. */
  private pageStatement(listing: Listing, limit: number, values: number, isFirst: boolean): Statement {
    const name = `${listing.name}:${limit}${isFirst ? ':first' : ''}`;
    const made = this.pages.get(name);
    if (made?.listing === listing) return made;
    const index = isFirst ? undefined : `$${values + 1}::bigint`;
    const statement = { name, listing, text: listing.page(limit, index) };
    this.pages.set(name, statement);
    return statement;
  }

  private async rows<R extends unknown[]>(
    { organizationId }: Owner,
    statement: Statement,
    values: unknown[],
  ): Promise<R[]> {
    const query = prepared(statement, values);
    return (await this.turns.run(organizationId, () => this.ask<R>(query))).rows;
  }

  /** The pool's own way would also close a connection after an error that PostgreSQL answered. */
  private ask<R extends unknown[]>(query: QueryArrayConfig): Promise<QueryArrayResult<R>> {
    return new Promise((resolve, reject) => {
      this.pool.connect((away, client, release) => {
        if (!client) return reject(away as Error);
        client.query<R>(query, (error: Error | null, result) => {
          release(error && !leavesConnection(error) ? error : undefined);
          if (error) reject(error);
          else resolve(result);
        });
      });
    });
  }
}

/** The parameters of a statement that touches rows of the owner alone. */
export const scoped = ({ organizationId }: Owner, values: unknown[]): unknown[] => [organizationId, ...values];

/**
 * The JSON texts of a statement's rows, as the manager's transaction sees them.
 * @param timeout milliseconds, when it is more than the pool's
 */
export async function allWithin(
  manager: EntityManager,
  statement: Statement,
  values: unknown[],
  timeout?: number,
): Promise<Json[]> {
  const connection = (await manager.queryRunner?.connect()) as PoolClient;
  const query: TimedQuery = { ...prepared(statement, values), ...(timeout && { timeout }) };
  const { rows } = await connection.query<[Json]>(query);
  return rows.map(([json]) => json);
}

/** The JSON text of a statement's one row, as the manager's transaction sees it. @throws NotFoundException */
export const oneWithin = async (...question: Parameters<typeof allWithin>): Promise<Json> =>
  found(await allWithin(...question));

function found([json]: Json[]): Json {
  if (json === undefined) throw new NotFoundException();
  return json;
}

const texts = new Map<string, string>();

/** @throws when another statement has the name, which the driver notices only on a connection that knows both */
function prepared({ name, text }: Statement, values: unknown[]): QueryArrayConfig {
  const known = texts.get(name);
  if (known === undefined) texts.set(name, text);
  else if (known !== text) throw new Error(`Two statements are called '${name}'`);
  return { name, text, values, rowMode: 'array' };
}
