import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { ApiKeysService } from '../access/api-keys.service';
import { OrganizationsService } from '../access/organizations.service';
import { withoutActor } from '../data/database/actor';
import { poolOf } from '../data/database/data-source';
import { GENEROUS_LIMITS } from './test-lanyard';

/** A statement of a request that reaches rows of all organizations. */
export interface UnscopedStatement {
  /** The table that has no condition on `organization_id`. */
  table: string;
  text: string;
}

/** A GET, and the statements that it has sent to the database. */
interface Read {
  url: string;
  key: string;
  texts: Set<string>;
}

/** How long a response is waited for that, such as a stream, does not end. */
const READ_TIMEOUT_MS = 2000;

/** The table in which the API key of a request is found, before its organization is known. */
const KEY_TABLE = 'api_keys';

const SCOPED_TABLES = `
  select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
  where a.attname = 'organization_id' and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
    and c.relname <> '${KEY_TABLE}'`;

/** The header by which the oracle knows its own requests. */
const OWN_REQUEST = 'x-tenant-oracle';

/** Statements that PostgreSQL can plan. */
const HAS_PLAN = /^\s*(select|with|update|delete|insert|merge)\b/i;

interface PlanNode {
  'Relation Name'?: string;
  Alias?: string;
  Plans?: PlanNode[];
  [detail: string]: unknown;
}

/**
 * Watches the statements that requests send to the database, and names those that read or change a table with an
 * `organization_id` without a condition on it. It asks PostgreSQL for the plan of each statement, so that it needs no rows of
 * other organizations and no role of its own. It sees that there is a condition, not whether its value is the caller's. It
 * watches the requests that arrive after it was created. To find a cache that organizations share, it sends each GET again,
 * for an organization of its own.
 *
 * @example
 * ```ts
 * const oracle = new TenantOracle(lanyard.app);
 * afterEach(async () => {
 *   expect(await oracle.takeUnscoped()).toEqual([]);
 *   expect(await oracle.takeShared()).toEqual([]);
 * });
 * ```
 */
export class TenantOracle {
  /** What records the statements of a request. */
  private readonly requests = new AsyncLocalStorage<(text: string) => void>();
  private readonly texts = new Set<string>();
  private readonly reads: Read[] = [];
  private readonly dataSource: DataSource;
  private key?: Promise<string>;
  /** The statements of the oracle's own request, of which there is one at a time. */
  private ownTexts = new Set<string>();

  constructor(private readonly app: INestApplication) {
    this.dataSource = app.get(DataSource);
    this.server.prependListener('request', (request: IncomingMessage) =>
      this.requests.enterWith(this.recorderOf(request)),
    );
    this.watch(poolOf(this.dataSource));
  }

  private get server(): Server {
    return this.app.getHttpServer() as Server;
  }

  private recorderOf({ method, url = '/', headers }: IncomingMessage): (text: string) => void {
    if (OWN_REQUEST in headers) return (text) => void (text.includes(KEY_TABLE) || this.ownTexts.add(text));
    const key = headers['x-api-key'];
    const read: Read = { url, key: String(key), texts: new Set() };
    if (method === 'GET' && key !== undefined) this.reads.push(read);
    return (text) => {
      this.texts.add(withoutActor(text));
      read.texts.add(text);
    };
  }

  /** The URLs of the GETs since the last call to which an organization gets what the request of another one has read. */
  async takeShared(): Promise<string[]> {
    const urls = new Set<string>();
    for (const { url, key, texts } of this.reads.splice(0)) {
      if (!(await this.readsOwned(texts))) continue;
      const other = await this.read(url, await (this.key ??= this.createKey()));
      if (other === undefined || this.ownTexts.size > 0) continue;
      if ((await this.read(url, key)) === other) urls.add(url);
    }
    return [...urls];
  }

  /** Sends a GET. @returns the body of its response, if its status is 200 */
  private async read(url: string, key: string): Promise<string | undefined> {
    this.ownTexts = new Set();
    const { port } = this.server.address() as AddressInfo;
    const headers = { 'x-api-key': key, [OWN_REQUEST]: 'on' };
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    return fetch(`http://127.0.0.1:${port}${url}`, { headers, signal, redirect: 'manual' })
      .then((response) => (response.status === 200 ? response.text() : undefined))
      .catch(() => undefined);
  }

  private async createKey(): Promise<string> {
    const { id } = await this.app.get(OrganizationsService).create('Tenant oracle');
    const { key } = await this.app.get(ApiKeysService).issue(id, GENEROUS_LIMITS);
    return key;
  }

  private readsOwned(texts: Set<string>): Promise<boolean> {
    return this.withTables(async (runner, tables) => {
      for (const text of texts) {
        const nodes = await planOf(runner, text);
        if (nodes.some((node) => tables.includes(node['Relation Name'] ?? ''))) return true;
      }
      return false;
    });
  }

  /** The unscoped statements since the last call. */
  takeUnscoped(): Promise<UnscopedStatement[]> {
    const texts = [...this.texts];
    this.texts.clear();
    return this.withTables(async (runner, tables) => {
      const found: UnscopedStatement[] = [];
      for (const text of texts) {
        for (const table of unscopedTables(await planOf(runner, text), tables)) found.push({ table, text });
      }
      return found;
    });
  }

  /** Runs work with the names of the tables whose rows belong to organizations. */
  private async withTables<T>(work: (runner: QueryRunner, tables: string[]) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const tables = (await runner.query(SCOPED_TABLES)) as { name: string }[];
      return await work(
        runner,
        tables.map(({ name }) => name),
      );
    } finally {
      await runner.release();
    }
  }

  private watch(pool: Pool): void {
    // The callback of a caller that waits for a connection runs in the context of the request that returns one.
    const connect = pool.connect.bind(pool) as (callback?: unknown) => unknown;
    const bound = (callback?: () => void): unknown => (callback ? connect(AsyncResource.bind(callback)) : connect());
    pool.connect = bound as Pool['connect'];
    const watched = new WeakSet<PoolClient>();
    pool.on('acquire', (client) => {
      if (watched.has(client)) return;
      watched.add(client);
      const query = client.query.bind(client) as (...values: unknown[]) => unknown;
      const recorded = (...values: unknown[]): unknown => {
        const [statement] = values;
        const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text;
        if (text && HAS_PLAN.test(text)) this.requests.getStore()?.(text);
        return query(...values);
      };
      client.query = recorded as PoolClient['query'];
    });
  }
}

/** The nodes of the plan of a statement for any values of its parameters. */
async function planOf(runner: QueryRunner, text: string): Promise<PlanNode[]> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = count > 0 ? `(${Array<string>(count).fill('null').join(', ')})` : '';
  await runner.query('set plan_cache_mode = force_generic_plan');
  try {
    await runner.query(`prepare tenant_oracle as ${text}`);
    const rows = (await runner.query(`explain (verbose, costs off, format json) execute tenant_oracle${values}`)) as {
      'QUERY PLAN': [{ Plan: PlanNode }];
    }[];
    await runner.query('deallocate tenant_oracle');
    return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await runner.query('reset plan_cache_mode');
  }
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Matches an equation of `organization_id` as PostgreSQL prints it: `(halls.organization_id = $1)`. */
const EQUATION = /(?<![^\s(])([^\s(]+) = (ANY )?([^\s)]+)/g;
const OWNER = /^("?)(.+)\1\.organization_id$/;

const ownerIn = (expression: string): string | undefined => OWNER.exec(expression)?.[2];

/** The tables of a plan whose rows may belong to any organization. */
function unscopedTables(nodes: PlanNode[], tables: string[]): string[] {
  const { scoped, joined } = equationsOf(nodes);
  const isUnscoped = ({ Alias: alias = '', 'Relation Name': name, ...node }: PlanNode): boolean =>
    / Scan$/.test(String(node['Node Type'])) && tables.includes(name ?? '') && !scoped.has(alias);
  const subqueries = nodes.filter((node) => node['Node Type'] === 'Subquery Scan' && node.Alias);
  for (let before = -1; before < scoped.size;) {
    before = scoped.size;
    // A table that is joined on the organization of a table with a condition is scoped, too.
    for (const pair of joined.filter((aliases) => aliases.some((alias) => scoped.has(alias)))) {
      for (const alias of pair) scoped.add(alias);
    }
    // So is a subquery whose tables are scoped. Its other children are queries in its select list.
    for (const { Alias: alias = '', Plans: children = [] } of subqueries) {
      const inputs = children.filter((child) => child['Parent Relationship'] === 'Subquery');
      if (!inputs.flatMap(nodesOf).some(isUnscoped)) scoped.add(alias);
    }
  }
  return [...new Set(nodes.filter(isUnscoped).map((node) => node['Relation Name']!))];
}

/** The aliases whose organization equals a value, and pairs of those whose organizations are equal. */
function equationsOf(nodes: PlanNode[]): { scoped: Set<string>; joined: [string, string][] } {
  const scoped = new Set<string>();
  const joined: [string, string][] = [];
  const conditions = nodes.flatMap((node) =>
    Object.entries(node).flatMap(([key, value]) => (/ Cond$|Filter$/.test(key) ? [String(value)] : [])),
  );
  for (const [, left = '', , right = ''] of conditions.flatMap((text) => [...text.matchAll(EQUATION)])) {
    const [one, other] = [ownerIn(left), ownerIn(right)];
    if (one && other) joined.push([one, other]);
    else if (one ?? other) scoped.add((one ?? other)!);
  }
  return { scoped, joined };
}
