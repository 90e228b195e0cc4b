import { Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool, QueryArrayConfig } from 'pg';
import { DataSource, EntityManager } from 'typeorm';
import { many } from './json';

/** JSON text that PostgreSQL rendered and that goes out as it is. */
export type Json = string;

/** One page of a list. */
export interface Page {
  /** items a page */
  limit: number;
  /** zero-based page index */
  offset: number;
  /** JSON texts of the items, joined by commas */
  items: Json;
  /** records matching the query */
  total: number;
}

/** How a list is read; json.ts tells about `rows` and `render`. */
export interface ListStatement {
  /** unique name of the prepared statement */
  name: string;
  /** select of the list's rows, in its order, without a limit; `$n` parameters */
  rows: string;
  render: string;
  /** select of the number of all rows; no number (null) when what the list belongs to does not exist */
  total: string;
}

/** Prepared statements on the pool of the data source: one round trip and no planning a read. */
@Injectable()
export class Reads {
  private readonly pool: Pool;

  constructor(@InjectDataSource() dataSource: DataSource) {
    this.pool = (dataSource.driver as unknown as { master: Pool }).master;
  }

  /**
   * The JSON text of a statement's one row.
   * @param name unique name of the prepared statement
   * @throws NotFoundException when there is no row
   */
  async one(name: string, text: string, values: unknown[]): Promise<Json> {
    const [row] = await this.rows<[Json]>(name, text, values);
    if (!row) throw new NotFoundException();
    return row[0];
  }

  /**
   * A page of a list. The page index is the statement's last parameter; the page size is part of its text, so that
   * PostgreSQL's generic plan knows it.
   * @throws NotFoundException when the total is null
   */
  async page(
    { name, rows, render, total }: ListStatement,
    values: unknown[],
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const items = many(`${rows} limit ${limit} offset $${values.length + 1}::bigint * ${limit}`, render);
    const text = `select (${items}), (${total})`;
    const [row] = await this.rows<[Json, string | null]>(`${name}:${limit}`, text, [...values, offset]);
    if (!row || row[1] === null) throw new NotFoundException();
    return { limit, offset, items: row[0], total: Number(row[1]) };
  }

  private async rows<R extends unknown[]>(name: string, text: string, values: unknown[]): Promise<R[]> {
    const query: QueryArrayConfig = { name, text, values, rowMode: 'array' };
    return (await this.pool.query<R>(query)).rows;
  }
}

/**
 * The JSON text of a statement's one row, as a transaction sees it.
 * @throws NotFoundException when there is no row
 */
export async function rendered(manager: EntityManager, text: string, values: unknown[]): Promise<Json> {
  const [row] = await manager.query<{ json: Json }[]>(text, values);
  if (!row) throw new NotFoundException();
  return row.json;
}
