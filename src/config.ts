import { resolve } from 'node:path';
import type { LogLevel } from '@nestjs/common';

/** Where a service listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A setting that cannot be used. The message is one line that names the setting. */
export class ConfigError extends Error {}

/**
 * Every setting of the server and the operator's command line. The table in README.md describes each one;
 * `readConfig` below is the only reader of the environment.
 */
export class Config {
  /** TCP port to listen on; 0 picks a free one. */
  readonly port: number = 3000;
  /** Address to listen on. */
  readonly host: string = '0.0.0.0';
  /** PostgreSQL connection string; without it the embedded PostgreSQL is used. */
  readonly databaseUrl?: string;
  /** Redis connection string; without it token buckets live in this process. */
  readonly redisUrl?: string;
  /** Sentinels to ask where Redis is; the host of redisUrl is then the name that they give the group. */
  readonly redisSentinels?: readonly Address[];
  /** Directory of the embedded PostgreSQL. */
  readonly dataDir: string = resolve('.data');
  /** Whether the operator named the data directory (then it is never moved). */
  readonly dataDirExplicit: boolean = false;
  /** Whether a first start on the embedded PostgreSQL makes the demo organization. */
  readonly demo: boolean = true;
  /** Connections to PostgreSQL a process. */
  readonly poolSize: number = 10;
  /** Milliseconds for which a start waits for a PostgreSQL that does not answer yet. */
  readonly databaseWaitMs: number = 30_000;
  /** How many proxies in front of the server are trusted to name the client's address. */
  readonly trustProxy: number = 0;
  /** Failed authentications a minute from one address before they are slowed. */
  readonly authenticationFailures: number = 3000;
  /** Milliseconds within which the headers of a request must have come. */
  readonly headersTimeoutMs: number = 15_000;
  /** Milliseconds within which a whole request must have come. */
  readonly requestTimeoutMs: number = 60_000;
  /** Milliseconds during which a stopping server still answers what reaches it. */
  readonly drainMs: number = 500;

  /** What is logged. Nest's own 'log' tells of each module and route at every start. */
  readonly logLevels: LogLevel[] = ['warn', 'error', 'fatal'];

  constructor(values: Partial<Config> = {}) {
    Object.assign(this, values);
  }
}

/** @throws ConfigError on a value that cannot be used. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const explicit = env.LANYARD_DATA_DIR;
  return new Config({
    port: integer(env, 'PORT', 3000, 0, 65535),
    host: env.HOST || '0.0.0.0',
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: url(env, 'REDIS_URL', ['redis:', 'rediss:']),
    redisSentinels: sentinels(env),
    dataDir: resolve(explicit || '.data'),
    dataDirExplicit: Boolean(explicit),
    demo: oneOf(env, 'LANYARD_DEMO', ['on', 'off']) === 'on',
    poolSize: integer(env, 'LANYARD_POOL_SIZE', 10, 1, 1000),
    databaseWaitMs: integer(env, 'LANYARD_DATABASE_WAIT_MS', 30_000, 0, 600_000),
    trustProxy: integer(env, 'LANYARD_TRUST_PROXY', 0, 0, 16),
    authenticationFailures: integer(env, 'LANYARD_AUTHENTICATION_FAILURES', 3000, 1, 1_000_000),
    headersTimeoutMs: integer(env, 'LANYARD_HEADERS_TIMEOUT_MS', 15_000, 100, 600_000),
    requestTimeoutMs: integer(env, 'LANYARD_REQUEST_TIMEOUT_MS', 60_000, 100, 600_000),
    drainMs: integer(env, 'LANYARD_DRAIN_MS', 500, 0, 60_000),
  });
}

function integer(env: NodeJS.ProcessEnv, name: string, fallback: number, least: number, most: number): number {
  const value = env[name];
  if (value === undefined || value === '') return fallback;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  if (number >= least && number <= most) return number;
  throw new ConfigError(`${name} must be an integer from ${least} to ${most}, not ${JSON.stringify(value)}`);
}

function oneOf(env: NodeJS.ProcessEnv, name: string, values: [string, ...string[]]): string {
  const value = env[name] || values[0];
  if (values.includes(value)) return value;
  throw new ConfigError(`${name} must be ${values.join(' or ')}, not ${JSON.stringify(value)}`);
}

/** The value itself is left out of the message: it may hold a password. */
function url(env: NodeJS.ProcessEnv, name: string, protocols: string[]): string | undefined {
  const value = env[name];
  if (!value) return undefined;
  if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;
  throw new ConfigError(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
}

const DEFAULT_SENTINEL_PORT = 26379;

function sentinels(env: NodeJS.ProcessEnv): Address[] | undefined {
  const name = 'LANYARD_REDIS_SENTINELS';
  const value = env[name];
  if (!value) return undefined;
  // With rediss:// the way to the sentinels would still be in the clear, and nobody would notice.
  if (!env.REDIS_URL?.startsWith('redis://')) {
    throw new ConfigError(
      `${name} needs a REDIS_URL that starts with redis:// and names the group of servers as its host`,
    );
  }
  return value.split(',').map((entry) => {
    const [, host, port] = /^\s*([\w.-]+|\[[\da-fA-F:]+\])(?::(\d{1,5}))?\s*$/.exec(entry) ?? [];
    const address = { host: host?.replace(/[[\]]/g, '') ?? '', port: Number(port ?? DEFAULT_SENTINEL_PORT) };
    if (host && address.port >= 1 && address.port <= 65535) return address;
    throw new ConfigError(`${name} must be host:port,host:port, not ${JSON.stringify(value)}`);
  });
}
