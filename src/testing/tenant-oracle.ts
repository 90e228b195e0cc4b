import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import type { INestApplication } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { poolOf } from '../database/data-source';

/** A statement of a request that reaches rows of all organizations. */
export interface UnscopedStatement {
  /** The table that has no condition on `organization_id`. */
  table: string;
  text: string;
}

/** The table in which the API key of a request is found, before its organization is known. */
const KEY_TABLE = 'api_keys';

const SCOPED_TABLES = `
  select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
  where a.attname = 'organization_id' and c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
    and c.relname <> '${KEY_TABLE}'`;

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
 * watches the requests that arrive after it was created.
 *
 * @example
 * ```ts
 * const oracle = new TenantOracle(lanyard.app);
 * afterEach(async () => expect(await oracle.takeUnscoped()).toEqual([]));
 * ```
 */
export class TenantOracle {
  private readonly requests = new AsyncLocalStorage<true>();
  private readonly texts = new Set<string>();
  private readonly checked = new Set<string>();
  private readonly dataSource: DataSource;

  constructor(app: INestApplication) {
    this.dataSource = app.get(DataSource);
    (app.getHttpServer() as EventEmitter).prependListener('request', () => this.requests.enterWith(true));
    this.watch(poolOf(this.dataSource));
  }

  /** The unscoped statements since the last call. */
  async takeUnscoped(): Promise<UnscopedStatement[]> {
    const texts = [...this.texts].filter((text) => !this.checked.has(text));
    this.texts.clear();
    const runner = this.dataSource.createQueryRunner();
    try {
      const tables = ((await runner.query(SCOPED_TABLES)) as { name: string }[]).map(({ name }) => name);
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
        if (text && this.requests.getStore() && HAS_PLAN.test(text)) this.texts.add(text);
        return query(...values);
      };
      client.query = recorded as PoolClient['query'];
    });
  }
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
