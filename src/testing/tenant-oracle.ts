import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { ApiKeysService } from '../access/api-keys.service';
import { OrganizationsService } from '../access/organizations.service';
import { withoutActor } from '../database/actor';
import { poolOf } from '../database/data-source';

/** A statement of a request that reaches rows of all organizations. */
export interface UnscopedStatement {
  /** The table that has no condition on `organization_id`. */
  table: string;
  text: string;
}

/** A response that an organization got although another one's request had made it. */
interface SharedResponse {
  url: string;
  /** The statements that the other organization's request has sent. */
  texts: string[];
}

/** What a watched request has sent to the database. */
type SentTexts = Set<string>;

/** How long the other organization waits for a response, such as a stream, that does not end. */
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
 * watches the requests that arrive after it was created, and sends each GET for an organization of its own first, by which
 * it finds a cache that organizations share.
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
  private readonly requests = new AsyncLocalStorage<SentTexts>();
  private readonly texts = new Set<string>();
  private readonly checked = new Set<string>();
  private readonly shared: SharedResponse[] = [];
  private readonly dataSource: DataSource;
  /** What the requests of the oracle's own organization have sent, by the ID that each has in its header. */
  private readonly ownRequests = new Map<string, SentTexts>();
  private key?: Promise<string>;

  constructor(private readonly app: INestApplication) {
    this.dataSource = app.get(DataSource);
    const server = app.getHttpServer() as Server;
    type Listener = (request: IncomingMessage, response: ServerResponse) => void;
    const listeners = server.listeners('request') as Listener[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const pass = (texts: SentTexts): void =>
        this.requests.run(texts, () => listeners.forEach((listener) => listener.call(server, request, response)));
      const own = this.ownRequests.get(String(request.headers[OWN_REQUEST]));
      if (own || request.method !== 'GET' || request.headers['x-api-key'] === undefined) pass(own ?? new Set());
      else void this.readFirst(server, request, response).then(pass);
    });
    this.watch(poolOf(this.dataSource));
  }

  /** The URLs of the GETs since the last call to which an organization got what the request of another one had made. */
  async takeShared(): Promise<string[]> {
    const urls = new Set<string>();
    for (const { url, texts } of this.shared.splice(0)) if (await this.readsOwned(texts)) urls.add(url);
    return [...urls];
  }

  /** Sends a GET for the oracle's organization. @returns the set for the statements of the request itself */
  private async readFirst(server: Server, request: IncomingMessage, response: ServerResponse): Promise<SentTexts> {
    const [id, texts, others] = [randomUUID(), new Set<string>(), new Set<string>()];
    this.ownRequests.set(id, others);
    const url = request.url ?? '/';
    const headers = { 'x-api-key': await (this.key ??= this.createKey()), [OWN_REQUEST]: id };
    const { port } = server.address() as AddressInfo;
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    const body = await fetch(`http://127.0.0.1:${port}${url}`, { headers, signal, redirect: 'manual' })
      .then((read) => (read.status === 200 ? read.text() : undefined))
      .catch(() => undefined);
    this.ownRequests.delete(id);
    if (body === undefined || others.size === 0) return texts;
    collectBody(response, (sent) => {
      if (texts.size === 0 && sent === body) this.shared.push({ url, texts: [...others] });
    });
    return texts;
  }

  private async createKey(): Promise<string> {
    const { id } = await this.app.get(OrganizationsService).create('Tenant oracle');
    const { key } = await this.app.get(ApiKeysService).issue(id, { maxTokens: 1_000_000, refillRate: 1_000_000 });
    return key;
  }

  private async readsOwned(texts: string[]): Promise<boolean> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const tables = await scopedTables(runner);
      for (const text of texts) {
        const nodes = nodesOf(await planOf(runner, text));
        if (nodes.some((node) => tables.includes(node['Relation Name'] ?? ''))) return true;
      }
      return false;
    } finally {
      await runner.release();
    }
  }

  /** The unscoped statements since the last call. */
  async takeUnscoped(): Promise<UnscopedStatement[]> {
    const texts = [...this.texts].filter((text) => !this.checked.has(text));
    this.texts.clear();
    const runner = this.dataSource.createQueryRunner();
    try {
      const tables = await scopedTables(runner);
      const found: UnscopedStatement[] = [];
      for (const text of texts) {
        const unscoped = unscopedTables(await planOf(runner, text), tables);
        if (unscoped.length === 0) this.checked.add(text);
        for (const table of unscoped) found.push({ table, text });
      }
      return found;
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
        const sent = this.requests.getStore();
        if (text && sent && HAS_PLAN.test(text)) {
          this.texts.add(withoutActor(text));
          if (!text.includes(KEY_TABLE)) sent.add(text);
        }
        return query(...values);
      };
      client.query = recorded as PoolClient['query'];
    });
  }
}

const scopedTables = async (runner: QueryRunner): Promise<string[]> =>
  ((await runner.query(SCOPED_TABLES)) as { name: string }[]).map(({ name }) => name);

/** Calls back with the text of a response of status 200, when it is sent. */
function collectBody(response: ServerResponse, onSent: (text: string) => void): void {
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown): void => {
    if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk));
  };
  const write = response.write.bind(response) as (...values: unknown[]) => boolean;
  const end = response.end.bind(response) as (...values: unknown[]) => ServerResponse;
  response.write = ((...values: unknown[]) => {
    collect(values[0]);
    return write(...values);
  }) as typeof response.write;
  response.end = ((...values: unknown[]) => {
    collect(values[0]);
    if (response.statusCode === 200) onSent(Buffer.concat(chunks).toString());
    return end(...values);
  }) as typeof response.end;
}

/** The plan of a statement for any values of its parameters. */
async function planOf(runner: QueryRunner, text: string): Promise<PlanNode> {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = count > 0 ? `(${Array<string>(count).fill('null').join(', ')})` : '';
  await runner.query('set plan_cache_mode = force_generic_plan');
  try {
    await runner.query(`prepare tenant_oracle as ${text}`);
    const rows = (await runner.query(`explain (verbose, costs off, format json) execute tenant_oracle${values}`)) as {
      'QUERY PLAN': [{ Plan: PlanNode }];
    }[];
    await runner.query('deallocate tenant_oracle');
    return rows[0]!['QUERY PLAN'][0].Plan;
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
function unscopedTables(plan: PlanNode, tables: string[]): string[] {
  const nodes = nodesOf(plan);
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
      const sources = children.filter((child) => child['Parent Relationship'] === 'Subquery');
      if (!sources.flatMap(nodesOf).some(isUnscoped)) scoped.add(alias);
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
