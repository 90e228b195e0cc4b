// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.

import { Extension, Scope } from 'lanyard';

import { INestApplication } from '@nestjs/common';

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
export declare class TenantOracle {
  /** The URLs of the GETs since the last call to which an organization gets what the request of another one has read. */
  takeShared(): Promise<string[]>;
  /** The unscoped statements since the last call. */
  takeUnscoped(): Promise<UnscopedStatement[]>;
}

/** Settings of a key: its label, its burst, its tokens per second, and when it expires. */
export type TestKeySettings = Partial<Pick<KeySettings, 'label' | 'maxTokens' | 'refillRate' | 'expiresAt' | 'scope'>>;

/** A Lanyard server for tests, with a database of its own. Requests can ask for simulated faults. */
export interface TestLanyard {
  /** Base URL of the API, including its prefix, such as `http://127.0.0.1:40123/api/v0`. */
  url: string;
  /** The Nest application of the server: `app.get(HallsService)`. */
  app: INestApplication;
  /** Creates an organization with a key. Without a name it is called `Test organization`, and the key may do everything. */
  createOrganization(options?: string | TestOrganizationOptions): Promise<TestOrganization>;
  /** Empties all organizations, and the shared catalog of industry events. Organizations and keys stay. */
  reset(): Promise<void>;
  /** Stops the server and removes its database. */
  stop(): Promise<void>;
}

export interface TestOptions {
  /** The extension of the project. */
  extension?: Extension;
  /**
   * Connection string of a PostgreSQL server whose role may create databases. The test server creates its own database there,
   * and `stop` drops it. By default, an embedded PostgreSQL is started in a temporary directory.
   */
  databaseUrl?: string;
  /** The TCP port to listen on. By default, a free port is chosen. */
  port?: number;
  /** The minimum level of log entries, which are written to standard error. The default is `error`. */
  logLevel?: LogLevel;
}

/** An organization of a test server. */
export interface TestOrganization {
  id: number;
  name: string;
  /** An API key with limits that tests do not reach. */
  key: string;
  /** Issues another key. Settings that are left out have the defaults of `lanyard keys issue`. */
  issueKey(settings?: TestKeySettings): Promise<IssuedKey>;
  /** Imports a dataset, which is one object of sections, as the command `import` does. @returns the number of records by section */
  import(records: object): Promise<Record<string, number>>;
}

/** The name of an organization, and what its first key may do. */
export interface TestOrganizationOptions {
  name?: string;
  scope?: KeySettings['scope'];
}

/** A statement of a request that reaches rows of all organizations. */
export interface UnscopedStatement {
  /** The table that has no condition on `organization_id`. */
  table: string;
  text: string;
}

/** Starts a server on a free port of this machine, in this process. */
export declare function startLanyard(options?: TestOptions): Promise<TestLanyard>;

// Not exported, but named above.

/** The rows of its two tables belong to a key, by which every statement finds them, and are deleted with it. */
declare class ApiKeyEntity {
  id: string;
  organizationId: number;
  /** SHA-256 of the key; the key itself is stored nowhere. Only AccessService reads it. */
  hash: Buffer;
  /** The first characters of the key, for display. */
  prefix: string;
  label: string | null;
  /** The capacity of the bucket in tokens. */
  maxTokens: number;
  /** The refill rate in tokens per second, with three decimals. The driver returns numeric values as text. */
  refillRate: number;
  /** What requests with the key may do (scopes.ts). It is decided when the key is issued. */
  scope: Scope;
  /** The faults that each request with the key gets on a server that simulates them (`src/http/simulate/faults.ts`). */
  simulate: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  /**
   * The key that has replaced this one; null, too, for keys rotated before this was stored. It needs no foreign key, because
   * keys are only deleted with their organization.
   */
  successorId: string | null;
}

/** A newly issued key. This is the only time that the key itself is shown. */
interface IssuedKey extends KeySettings {
  id: string;
  key: string;
  organizationId: number;
}

type KeySettings = Pick<ApiKeyEntity, 'label' | 'maxTokens' | 'refillRate' | 'expiresAt' | 'scope'> & {
  simulate?: string;
};

declare const LOG_LEVELS: readonly ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

type LogLevel = (typeof LOG_LEVELS)[number];

export {};
