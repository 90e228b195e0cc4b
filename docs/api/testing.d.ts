// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.

import { Extension, Scope } from 'lanyard';

import { INestApplication } from '@nestjs/common';

export declare class TenantOracle {
  takeUnscoped(): Promise<UnscopedStatement[]>;
}

export type TestKeySettings = Partial<Pick<KeySettings, 'label' | 'maxTokens' | 'refillRate' | 'expiresAt' | 'scope'>>;

export interface TestLanyard {
  url: string;
  app: INestApplication;
  createOrganization(options?: string | TestOrganizationOptions): Promise<TestOrganization>;
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestOptions {
  extension?: Extension;
  databaseUrl?: string;
  port?: number;
  logLevel?: LogLevel;
}

export interface TestOrganization {
  id: number;
  name: string;
  key: string;
  issueKey(settings?: TestKeySettings): Promise<IssuedKey>;
  import(records: object): Promise<Record<string, number>>;
}

export interface TestOrganizationOptions {
  name?: string;
  scope?: KeySettings['scope'];
}

export interface UnscopedStatement {
  table: string;
  text: string;
}

export declare function startLanyard(options?: TestOptions): Promise<TestLanyard>;

// Not exported, but named above.

declare class ApiKeyEntity {
  id: string;
  organizationId: number;
  hash: Buffer;
  prefix: string;
  label: string | null;
  maxTokens: number;
  refillRate: number;
  scope: Scope;
  simulate: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

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
