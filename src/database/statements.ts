import { Injectable, NotFoundException } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Pool, PoolClient, QueryArrayConfig, QueryArrayResult } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import { poolOf, type TimedQuery } from './data-source';
import { leavesConnection } from './errors';
import { page, Render } from './json';
import type { TrackedList } from './lists';
import { Turns } from './turns';
import { fromUuid, LEAST_UUID } from './tracked-list';

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

/**
 * A list whose totals and places the database keeps. Its statement's parameters are the organization (unless the list
 * is shared) and the parent (if it has one).
 */
export interface TrackedListing {
  list: TrackedList;
  /** json.ts tells about it */
  render: Render;
  /** a select that has a row when what the list belongs to exists */
  exists?: string;
}

/** A list of few rows, which are counted and skipped. */
export interface CountedListing {
  /** unique name of the prepared statement */
  name: string;
  /** json.ts tells about it */
  render: Render;
  /** whether the list is every organization's; `$1` is not the organization then */
  shared?: true;
  /** select of the list's rows, in its order, without a limit; `$n` parameters */
  rows: string;
  /** select of the number of all rows; no number (null) when what the list belongs to does not exist */
  total: string;
}

/** A list whose statement finds the page and the total by itself. */
export interface FoundListing {
  /** unique name of the prepared statement */
  name: string;
  /** whether the list is every organization's; `$1` is not the organization then */
  shared?: true;
  /**
   * select of the JSON texts of a page's items, joined by commas or a row each, of the total, and of what the statement
   * likes to know when it is asked with the same values again (`known`, null at first and where there is nothing to know)
   */
  page: (limit: number, index: string, known: string) => string;
}

type Listing = TrackedListing | CountedListing | FoundListing;

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
  private readonly pages = new Map<string, { listing: Listing; text: string }>();
  private readonly known = new LRUCache<string, string>({ max: 500 });

  constructor(
    private readonly turns: Turns,
    dataSource: DataSource,
  ) {
    this.pool = poolOf(dataSource);
  }

  /**
   * The JSON text of a statement's one row.
   * @param name unique name of the prepared statement
   * @throws NotFoundException when there is no row
   */
  async one(owner: Owner, name: string, text: string, values: unknown[]): Promise<Json> {
    return found(await this.all(owner, name, text, values));
  }

  /** The JSON texts of a statement's rows. */
  async all(owner: Owner, name: string, text: string, values: unknown[]): Promise<Json[]> {
    return (await this.rows<[Json]>(owner, name, text, scoped(owner, values))).map(([json]) => json);
  }

  /**
   * A page of a list. Behind the values, the statement's parameters are the page index and what is known.
   * @throws NotFoundException when what the list belongs to does not exist
   */
  async page(
    owner: Owner,
    listing: Listing,
    given: unknown[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const { name: list, shared } = 'list' in listing ? listing.list : listing;
    const values = shared ? given : scoped(owner, given);
    const isFirst = offset === 0 && !('page' in listing);
    const name = `${list}:${limit}${isFirst ? ':first' : ''}`;
    let made = this.pages.get(name);
    if (made?.listing !== listing) {
      made = { listing, text: pageStatement(listing, limit, values.length, isFirst) };
      this.pages.set(name, made);
    }
    const question = 'page' in listing ? JSON.stringify([list, values]) : undefined;
    const all = [...values, ...(isFirst ? [] : [offset]), ...(question ? [this.known.get(question) ?? null] : [])];
    const rows = await this.rows<[Json | null, string | null, string?]>(owner, name, made.text, all);
    const [, total = null, known] = rows[0] ?? [];
    if (total === null) throw new NotFoundException();
    if (question && known) this.known.set(question, known);
    // The driver's promise keeps its result, in which nothing of the page may stay (AnswerText says why).
    const items = rows.splice(0).map(([json]) => json ?? '');
    return { limit, offset, items, total: Number(total) };
  }

  private async rows<R extends unknown[]>(
    { organizationId }: Owner,
    name: string,
    text: string,
    values: unknown[],
  ): Promise<R[]> {
    const query = prepared(name, text, values);
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
  name: string,
  text: string,
  values: unknown[],
  timeout?: number,
): Promise<Json[]> {
  const connection = (await manager.queryRunner?.connect()) as PoolClient;
  const query: TimedQuery = { ...prepared(name, text, values), ...(timeout && { timeout }) };
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
function prepared(name: string, text: string, values: unknown[]): QueryArrayConfig {
  const known = texts.get(name);
  if (known === undefined) texts.set(name, text);
  else if (known !== text) throw new Error(`Two statements are called '${name}'`);
  return { name, text, values, rowMode: 'array' };
}

function pageStatement(listing: Listing, limit: number, values: number, isFirst: boolean): string {
  const index = `$${values + 1}::bigint`;
  if ('page' in listing) return listing.page(limit, index, `$${values + 2}::text`);
  const place = isFirst ? undefined : index;
  return 'list' in listing ? trackedPage(listing, limit, place) : countedPage(listing, limit, place);
}

/**
 * The statement of a page: the page's size is written into it, so that PostgreSQL's generic plan knows it, and its index
 * is a parameter, or undefined for the first page, which is the one asked for most and needs no looking for its place.
 */
function countedPage({ rows, render, total }: CountedListing, limit: number, index?: string): string {
  const skip = index ? ` offset ${index} * ${limit}` : '';
  return pageAndTotal(page(`${rows} limit ${limit}${skip}`, render), total);
}

/**
 * The page's first row is found from the last boundary before it, over entries of the index alone; tracked-list.ts tells
 * about blocks and boundaries. (`offset 0`: found once, and not once for each use.)
 */
function trackedPage({ list, render, exists }: TrackedListing, limit: number, index?: string): string {
  const { name, table, parent, at, id, shared } = list;
  const parentValue = parent && `${shared ? '$1' : '$2'}::${parent.type}`;
  const rowsFrom = (columns: string, start?: string): string => {
    const conditions = [
      ...(shared ? [] : ['organization_id = $1']),
      ...(parent ? [`${parent.column} = ${parentValue}`] : []),
      ...(start ? [`(${at}, ${id.column}) >= (${start}.at, ${start}.id)`] : []),
    ];
    const where = conditions.length ? `where ${conditions.join(' and ')}` : '';
    return `select ${columns} from ${table} ${where} order by ${at}, ${id.column}`;
  };
  const key = `name = '${name}' and organization_id = ${shared ? '0' : '$1'}
    and parent = ${parent ? `${parentValue}::text` : "''"}`;
  const ifExists = exists ? `where exists (${exists})` : '';
  if (!index) {
    const total = `select coalesce((select total from lists where ${key}), 0) ${ifExists}`;
    return pageAndTotal(page(`${rowsFrom('*')} limit ${limit}`, render), total);
  }
  return `with list as (
      select id, total, blocks[n] as block, ${index} * ${limit} - coalesce(ranks[n], 0) as skip
      from (select *, width_bucket(${index} * ${limit}, ranks) as n from lists where ${key} offset 0) l offset 0
    ), boundary as (
      select total, skip - coalesce(ranks[n], 0) as skip, coalesce(moments[n], b.at, '-infinity') as at,
        ${fromUuid(`coalesce(ids[n], b.id, '${LEAST_UUID}')`, id.type)} as id
      from list l left join list_blocks b on b.list = l.id and b.block = l.block
        cross join lateral (select width_bucket(l.skip, b.ranks) as n) n offset 0
    )
    select json, coalesce(total, 0) as total from (select ${ifExists}) one left join boundary on true left join lateral (
      ${rowsFrom(`${at} as at, ${id.column} as id`, 'boundary')} offset boundary.skip limit 1
    ) first on true left join lateral (${page(`${rowsFrom('*', 'first')} limit ${limit}`, render)}) p on true`;
}

/** The total stands in each row of the page; alone, when the page is empty. */
const pageAndTotal = (items: string, total: string): string =>
  `select json, total from (select (${total}) as total) t left join lateral (${items}) p on true`;
