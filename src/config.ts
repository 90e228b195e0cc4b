import { resolve } from 'node:path';
import { ExpectedError } from './errors/expected-error';

/** The path of the API. Health checks and the reference are outside of it. */
export const PREFIX = 'api/v0';

/** The address that a service listens on. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A setting that cannot be used. The message is one line that names the setting. */
export class ConfigError extends ExpectedError {}

/** A variable of the environment, and the field of Config that it sets. */
interface Setting {
  readonly name: string;
  readonly key: string;
  /** @returns undefined if the text cannot be used */
  readonly read: (text: string) => unknown;
  /** What the text must be, as error messages put it. */
  readonly requirement: string;
  /** Whether the value may contain a password. */
  readonly isSecret?: boolean;
}

type SettingType = Omit<Setting, 'name' | 'key'>;

/** Every setting, in the order of the fields below. */
export const SETTINGS: Setting[] = [];

const setting =
  (name: string, check: SettingType) =>
  (_: Config, key: string): void =>
    void SETTINGS.push({ name, key, ...check });

const integer = (min: number, max: number): SettingType => ({
  read: (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
  requirement: `an integer from ${min} to ${max}`,
});

const oneOf = (...values: readonly string[]): SettingType => ({
  read: (text) => (values.includes(text) ? text : undefined),
  requirement: values.join(' or '),
});

type Switch = 'on' | 'off';
const onOrOff = oneOf('on', 'off');

const url = (rest: string, ...protocols: string[]): SettingType => ({
  read: (text) => (areUrls(serverUrls(text), protocols) ? text : undefined),
  requirement: `a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}, with ${rest}, and its user and password percent-encoded`,
  isSecret: true,
});

/** The URLs of the servers that a URL names. Those of a Redis cluster are separated by commas. */
export function serverUrls(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^([^:]*:\/\/(?:.*@)?)([^/?#]*)(.*)$/.exec(url) ?? [];
  return hosts.split(',').map((host) => start + host + rest);
}

/** The number of the database. A cluster has only one. */
const REDIS_PATH = /^\/?\d{0,9}$/;
const CLUSTER_PATH = /^\/?$/;

/** The values of sslmode that the driver knows. It would ignore another one, and connect in a way that nobody chose. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const isSslMode = (text: string): boolean => SSL_MODES.includes(text);

function areUrls(urls: string[], protocols: string[]): boolean {
  const isOne = urls.length === 1;
  return urls.every((text) => {
    try {
      const { protocol, username, password, pathname, searchParams } = new URL(text);
      // Clients of PostgreSQL and Redis decode them, and throw a URIError at a `%` that does not encode a character.
      [username, password].forEach(decodeURIComponent);
      // In a URL with a `/` in its password, the host ends there, and messages would show the rest as the database's name.
      if (!protocols.includes(protocol) || pathname.includes('@')) return false;
      if (protocol.startsWith('redis')) return (isOne ? REDIS_PATH : CLUSTER_PATH).test(pathname);
      return isOne && searchParams.getAll('sslmode').every(isSslMode);
    } catch {
      return false;
    }
  });
}

const text: SettingType = { read: (value) => value, requirement: 'text' };
const directory: SettingType = { read: (path) => resolve(path), requirement: 'a directory' };
const addresses: SettingType = { read: addressesOf, requirement: 'a list such as sentinel-1:26379,sentinel-2:26379' };
const origins: SettingType = {
  read: originsOf,
  requirement:
    'a comma-separated list of origins such as https://booth.example.com or http://localhost:8080, without paths or ' +
    'wildcards, or * for all origins',
};

/** Milliseconds for which a start waits for a PostgreSQL that does not respond yet. */
export const DATABASE_WAIT_MS = 30_000;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Every setting of the server and of the command line: its variable, its allowed values and its default.
 * docs/configuration.md explains what each one means.
 */
export class Config {
  /** TCP port to listen on; 0 picks a free one. */
  @setting('PORT', integer(0, 65535))
  readonly port: number = 3000;

  /** Address to listen on. */
  @setting('HOST', text)
  readonly host: string = '0.0.0.0';

  /** PostgreSQL connection string; without it the embedded PostgreSQL is used. */
  @setting('DATABASE_URL', url(`an sslmode, if any, of ${SSL_MODES.join(', ')}`, 'postgres:', 'postgresql:'))
  readonly databaseUrl?: string;

  /** Redis connection string, with several hosts for a cluster; without it token buckets live in this process. */
  @setting('REDIS_URL', url('a number, if anything, as its path (none with several hosts)', 'redis:', 'rediss:'))
  readonly redisUrl?: string;

  /** Sentinels to ask where Redis is. The host of redisUrl is then the name of their group. */
  @setting('LANYARD_REDIS_SENTINELS', addresses)
  readonly redisSentinels?: readonly Address[];

  /** Directory of the embedded PostgreSQL. */
  @setting('LANYARD_DATA_DIR', directory)
  readonly dataDir: string = resolve('.data');

  /** Whether nobody chose the directory of the embedded PostgreSQL. */
  readonly isDefaultDataDir: boolean = true;

  /** Whether a first start on the embedded PostgreSQL creates the demo organization. */
  @setting('LANYARD_DEMO', onOrOff)
  readonly demo: Switch = 'on';

  /**
   * Connections to PostgreSQL per process for requests; long deletes may use two of them. One more is for keys and probes,
   * one for webhooks.
   */
  @setting('LANYARD_POOL_SIZE', integer(3, 1000))
  readonly poolSize: number = 10;

  /** How many proxies in front of the server are trusted to name the client's address. */
  @setting('LANYARD_TRUST_PROXY', integer(0, 16))
  readonly trustProxy: number = 0;

  /** Origins of web pages that may read responses; without it no page of another origin may. */
  @setting('LANYARD_CORS_ORIGINS', origins)
  readonly corsOrigins?: string[] | '*';

  /** Failed authentications per minute from one address (a /64 for IPv6) before it is slowed down. */
  @setting('LANYARD_AUTHENTICATION_FAILURES', integer(1, 1_000_000))
  readonly authenticationFailures: number = 3000;

  /** Milliseconds within which the headers of a request must arrive. */
  @setting('LANYARD_HEADERS_TIMEOUT_MS', integer(100, 600_000))
  readonly headersTimeoutMs: number = 15_000;

  /** Milliseconds within which a whole request must arrive. */
  @setting('LANYARD_REQUEST_TIMEOUT_MS', integer(100, 600_000))
  readonly requestTimeoutMs: number = 60_000;

  /** Milliseconds for which a client may read nothing of its response. It is no setting. */
  readonly responseTimeoutMs: number = 15_000;

  /** Milliseconds for which a stopping server still responds to new requests. */
  @setting('LANYARD_DRAIN_MS', integer(0, 60_000))
  readonly drainMs: number = 500;

  /** The lowest level that is logged. Requests are `info`; those that fail for the server's own reasons are `error`. */
  @setting('LANYARD_LOG_LEVEL', oneOf(...LOG_LEVELS))
  readonly logLevel: LogLevel = 'info';

  /** Days for which changes are kept for the feed. */
  @setting('LANYARD_CHANGES_DAYS', integer(1, 365))
  readonly changesDays: number = 30;

  /** Days for which the audit log is kept; 0 keeps none. */
  @setting('LANYARD_AUDIT_DAYS', integer(0, 3650))
  readonly auditDays: number = 90;

  /** Whether this process delivers to webhooks. */
  @setting('LANYARD_WEBHOOKS', onOrOff)
  readonly webhooks: Switch = 'on';

  /** Whether `webhooks create` accepts an `http` URL that leads to another machine. */
  @setting('LANYARD_WEBHOOK_HTTP', onOrOff)
  readonly webhookHttp: Switch = 'off';

  /** Whether webhooks may be sent to private networks and to this machine. */
  @setting('LANYARD_WEBHOOK_PRIVATE', onOrOff)
  readonly webhookPrivate: Switch = 'on';

  /** Whether webhooks that API keys register may lead to private networks and to this machine, also by `http`. */
  @setting('LANYARD_API_WEBHOOK_PRIVATE', onOrOff)
  readonly apiWebhookPrivate: Switch = 'off';

  /** TCP port of `/metrics`; without it there are no metrics. */
  @setting('LANYARD_METRICS_PORT', integer(0, 65535))
  readonly metricsPort?: number;

  /** Whether requests may ask for simulated faults; in production the value must be `production`. */
  @setting('LANYARD_SIMULATE', oneOf('off', 'on', 'production'))
  readonly simulate: 'off' | 'on' | 'production' = 'off';

  constructor(values: Partial<Config> = {}) {
    Object.assign(this, values);
  }
}

/** @throws ConfigError if a value cannot be used */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const overrides = SETTINGS.flatMap(({ name, key, read, requirement, isSecret }) => {
    const text = env[name];
    if (!text) return [];
    const value = read(text);
    if (value !== undefined) return [[key, value]];
    const shown = isSecret ? '' : `, not ${JSON.stringify(text)}`;
    throw new ConfigError(`${name} must be ${requirement}${shown}.`);
  });
  const config = new Config({
    ...(Object.fromEntries(overrides) as Partial<Config>),
    isDefaultDataDir: !env.LANYARD_DATA_DIR,
  });
  // The driver reads it where the URL has no sslmode.
  if (config.databaseUrl && env.PGSSLMODE && !isSslMode(env.PGSSLMODE)) {
    throw new ConfigError(`PGSSLMODE must be one of ${SSL_MODES.join(', ')}, not ${JSON.stringify(env.PGSSLMODE)}.`);
  }
  // With rediss:// the connection to the sentinels would still be unencrypted, and nobody would notice.
  const { redisSentinels, redisUrl = '' } = config;
  if (redisSentinels && (!redisUrl.startsWith('redis://') || serverUrls(redisUrl).length > 1)) {
    throw new ConfigError(
      'LANYARD_REDIS_SENTINELS needs a REDIS_URL that starts with redis:// and has the name of the Sentinel group as its host.',
    );
  }
  if (config.simulate === 'on' && env.NODE_ENV === 'production') {
    throw new ConfigError(
      'LANYARD_SIMULATE=on is refused because NODE_ENV is production. ' +
        'Set LANYARD_SIMULATE=production if you really want simulated faults there.',
    );
  }
  return config;
}

/** Variables of clients, with the API's URL and a key. The server does not use them. */
const CLIENT_VARIABLES = ['LANYARD_URL', 'LANYARD_KEY'];

/** Names the variables that look like settings but are not. A misspelled one would have no effect, unnoticed. */
export function unknownSettings(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const known = [...CLIENT_VARIABLES, ...SETTINGS.map(({ name }) => name)];
  const unknown = Object.keys(env).filter((name) => name.startsWith('LANYARD_') && !known.includes(name));
  if (unknown.length === 0) return undefined;
  return `Unknown ${unknown.length === 1 ? 'setting' : 'settings'}, ignored: ${unknown.sort().join(', ')}`;
}

/** The settings in force, from the environment, without passwords; a value is null if it is not set. */
export function effectiveSettings(env: NodeJS.ProcessEnv = process.env) {
  const config = readConfig(env);
  return SETTINGS.map(({ name, key, isSecret }) => {
    const text = env[name] && (isSecret ? withoutPassword(env[name]) : env[name]);
    if (text) return { name, value: text, source: 'environment' };
    const value = config[key as keyof Config];
    return { name, value: value === undefined ? null : String(value), source: 'default' };
  });
}

/** Removes the password, which may be in its usual position or among the parameters. */
function withoutPassword(connection: string): string {
  const [first = '', ...others] = serverUrls(connection);
  const url = new URL(first);
  if (url.password) url.password = '***';
  for (const name of url.searchParams.keys()) {
    if (/password|secret|token|key/i.test(name)) url.searchParams.set(name, '***');
  }
  return [url.href, ...others.map((each) => new URL(each).host)].join(',');
}

function originsOf(list: string): string[] | '*' | undefined {
  if (list === '*') return '*';
  const origins = list.split(',').map((entry) => entry.trim());
  return origins.every(isOrigin) ? origins : undefined;
}

/** Whether a page can have the origin. Browsers send it in one spelling, and a wildcard in it would match nothing. */
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[\w.:[\]-]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

const DEFAULT_SENTINEL_PORT = 26379;

function addressesOf(list: string): Address[] | undefined {
  const found = list.split(',').map((entry) => {
    const [, host, port] = /^\s*([\w.-]+|\[[\da-fA-F:]+\])(?::(\d{1,5}))?\s*$/.exec(entry) ?? [];
    return { host: host?.replace(/[[\]]/g, '') ?? '', port: Number(port ?? DEFAULT_SENTINEL_PORT) };
  });
  return found.every(({ host, port }) => host && port >= 1 && port <= 65535) ? found : undefined;
}
