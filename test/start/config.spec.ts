import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Config,
  ConfigError,
  readConfig,
  serverUrls,
  SETTINGS,
  effectiveSettings,
  unknownSettings,
} from '../../src/config';
import { Operator } from '../support/operator';

/** The table of docs/configuration.md: names and defaults. */
function documented(): [string, string][] {
  const text = readFileSync(join(__dirname, '../../docs/configuration.md'), 'utf8');
  return [...text.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name = '', value = '']) => [name, value]);
}

/** Refuses a password of which some signs are not percent-encoded, without showing it. */
const notEncoded = (name: string): RegExp =>
  new RegExp(`^${name} must be a URL .* its user and password percent-encoded\\.$`);

describe('the settings', () => {
  it('are all in docs/configuration.md, with their defaults', () => {
    const settings = effectiveSettings({}).map(({ name, value }) => {
      const shown = name === 'LANYARD_DATA_DIR' ? '.data' : value;
      return [name, shown === null ? 'none' : `\`${shown}\``];
    });
    expect(documented()).toEqual(settings);
  });

  it('are read from the environment, and unset or empty ones have their defaults', () => {
    const env = { PORT: '8080', LANYARD_DEMO: 'off', LANYARD_LOG_LEVEL: 'warn', LANYARD_METRICS_PORT: '', HOST: '::1' };
    const config = readConfig(env);
    expect(config).toMatchObject({ port: 8080, demo: 'off', logLevel: 'warn', host: '::1', poolSize: 10 });
    expect(config.metricsPort).toBeUndefined();
    expect(readConfig({})).toEqual(new Config());
  });

  it('report unknown variables that look like settings', async () => {
    expect(
      unknownSettings({ LANYARD_DEMO: 'off', HOME: '/', LANYARD_URL: 'http://x', LANYARD_KEY: 'lan_x' }),
    ).toBeUndefined();
    const env = { LANYARD_DEM0: 'off', LANYARD_POOLSIZE: '4' };
    expect(unknownSettings(env)).toBe('Unknown settings, ignored: LANYARD_DEM0, LANYARD_POOLSIZE');
    const { stderr } = await new Operator(env).run(['config', '--json']);
    expect(stderr).toContain('LANYARD_DEM0');
  });

  it('allow simulated faults in production only with LANYARD_SIMULATE=production', () => {
    const production = { NODE_ENV: 'production' };
    expect(readConfig({ LANYARD_SIMULATE: 'on' }).simulate).toBe('on');
    expect(() => readConfig({ ...production, LANYARD_SIMULATE: 'on' })).toThrow(/^LANYARD_SIMULATE=on .* NODE_ENV/);
    expect(readConfig({ ...production, LANYARD_SIMULATE: 'production' }).simulate).toBe('production');
    expect(readConfig({ ...production, LANYARD_SIMULATE: 'off' }).simulate).toBe('off');
  });

  it('may have any character in a password, percent-encoded', () => {
    const redisUrl = `redis://:${encodeURIComponent('%zz/ü@#?:')}@db:6379`;
    expect(readConfig({ REDIS_URL: redisUrl })).toMatchObject({ redisUrl });
  });

  it('name the hosts of a Redis cluster in one URL, and show them without the password', () => {
    const redisUrl = 'redis://api:a,b@one:6379,two:6380,[::1]:6381';
    expect(readConfig({ REDIS_URL: redisUrl })).toMatchObject({ redisUrl });
    expect(serverUrls(redisUrl)).toEqual(
      ['one:6379', 'two:6380', '[::1]:6381'].map((host) => `redis://api:a,b@${host}`),
    );
    const value = 'redis://api:***@one:6379,two:6380,[::1]:6381';
    const shown = { name: 'REDIS_URL', value, source: 'environment' };
    expect(effectiveSettings({ REDIS_URL: redisUrl })).toContainEqual(shown);
  });

  it.each([
    ['LANYARD_DEMO', 'off'],
    ['LANYARD_CORS_ORIGINS', 'https://a.example, http://localhost:8080,http://[::1]:3000'],
    ['LANYARD_REDIS_SENTINELS', 'one:1,[::1]:26380'],
  ])('%s=%s is shown as it was set', (name, value) => {
    const env = { REDIS_URL: 'redis://mymaster', [name]: value };
    expect(effectiveSettings(env)).toContainEqual({ name, value, source: 'environment' });
  });

  it.each([
    ['PORT', '0x10', 'PORT must be an integer from 0 to 65535, not "0x10"'],
    ['PORT', '1e3', 'PORT must be an integer from 0 to 65535, not "1e3"'],
    ['LANYARD_POOL_SIZE', '1001', 'LANYARD_POOL_SIZE must be an integer from 3 to 1000, not "1001"'],
    // Two may be held by long deletes, and somebody else's work would wait behind them.
    ['LANYARD_POOL_SIZE', '2', 'LANYARD_POOL_SIZE must be an integer from 3 to 1000, not "2"'],
    ['LANYARD_DEMO', 'constructor', 'LANYARD_DEMO must be on or off, not "constructor"'],
    ['LANYARD_LOG_LEVEL', 'loud', /^LANYARD_LOG_LEVEL must be trace or .* or silent, not "loud"\.$/],
    ['REDIS_URL', 'redis://h:6379/abc', /^REDIS_URL must be .* with a number, if anything, as its path/],
    ['REDIS_URL', 'redis://one:6379,two:6379/1', /^REDIS_URL must be .* \(none with several hosts\)/],
    ['REDIS_URL', 'redis://one:6379,two:x', /^REDIS_URL must be /],
    ['DATABASE_URL', 'postgres://one:5432,two:5432/lanyard', /^DATABASE_URL must be /],
    ['DATABASE_URL', 'postgres://h/lanyard?sslmode=requird', /^DATABASE_URL must be .* sslmode, if any, of disable, /],
    ['DATABASE_URL', 'postgres://h/lanyard?sslmode=require&sslmode=', /^DATABASE_URL must be .* sslmode/],
    ['LANYARD_METRICS_PORT', 'tcp://10.96.4.7:9464', /not "tcp:.*"\.$/],
    ['REDIS_URL', 'http://:hush@x', 'REDIS_URL must be a URL that starts with redis:// or rediss://'],
    ['DATABASE_URL', 'postgres://lanyard:12/hush@db:5432/lanyard', notEncoded('DATABASE_URL')],
    ['DATABASE_URL', 'postgres://lanyard:a/hush@db:5432/lanyard', notEncoded('DATABASE_URL')],
    // Of its signs some are no percent-encoding, or none of UTF-8.
    ['REDIS_URL', 'redis://:s%zzhush@db:6379', notEncoded('REDIS_URL')],
    ['REDIS_URL', 'redis://:s%FChush@db:6379', notEncoded('REDIS_URL')],
    ['REDIS_URL', 'redis://us%er:hush@db:6379', notEncoded('REDIS_URL')],
    ['DATABASE_URL', 'postgres://api:100%hush@db/lanyard', notEncoded('DATABASE_URL')],
    [
      'LANYARD_CORS_ORIGINS',
      'https://a.example/',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    [
      'LANYARD_CORS_ORIGINS',
      '*,https://a.example',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    // No page has such an origin.
    [
      'LANYARD_CORS_ORIGINS',
      'https://*.example.com',
      /without paths or wildcards.*not "https:\/\/\*\.example\.com"\.$/,
    ],
    [
      'LANYARD_CORS_ORIGINS',
      'https://a.example/booth',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    [
      'LANYARD_CORS_ORIGINS',
      'https://a.example:443',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    ['LANYARD_CORS_ORIGINS', 'a.example', /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /],
    [
      'LANYARD_CORS_ORIGINS',
      'ftp://a.example',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    [
      'LANYARD_CORS_ORIGINS',
      'wss://a.example',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    [
      'LANYARD_CORS_ORIGINS',
      'https://a.example,',
      /^LANYARD_CORS_ORIGINS must be a comma-separated list of origins such as /,
    ],
    [
      'LANYARD_REDIS_SENTINELS',
      'one:70000',
      'LANYARD_REDIS_SENTINELS must be a list such as sentinel-1:26379,sentinel-2:26379, not "one:70000".',
    ],
  ])('%s=%s is rejected by name', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(message);
  });

  it('reject an unknown PGSSLMODE, which the driver would ignore', () => {
    const PGSSLMODE = 'requird';
    expect(() => readConfig({ PGSSLMODE, DATABASE_URL: 'postgres://h/lanyard' })).toThrow(/^PGSSLMODE must be one of/);
    expect(readConfig({ PGSSLMODE }).databaseUrl).toBeUndefined();
  });

  it.each([
    { LANYARD_REDIS_SENTINELS: 'one:26379' },
    { LANYARD_REDIS_SENTINELS: 'one:1', REDIS_URL: 'rediss://:secret@mymaster' },
    { LANYARD_REDIS_SENTINELS: 'one:1', REDIS_URL: 'redis://mymaster,other' },
  ])('%j is rejected, because sentinels need redis:// and the name of their group', (settings) => {
    expect(() => readConfig(settings)).toThrow(/^LANYARD_REDIS_SENTINELS needs a REDIS_URL/);
  });
});

describe('operator config', () => {
  const operator = new Operator({
    DATABASE_URL: 'postgres://api:hush@db:5432/lanyard?sslpassword=hush&sslmode=require',
  });

  it('shows the settings in force as JSON, without passwords', async () => {
    const shown = await operator.json<{ name: string; value: unknown; source: string }[]>(['config']);
    expect(shown.map(({ name }) => name)).toEqual(SETTINGS.map(({ name }) => name));
    expect(shown).toContainEqual({
      name: 'DATABASE_URL',
      value: 'postgres://api:***@db:5432/lanyard?sslpassword=***&sslmode=require',
      source: 'environment',
    });
    expect(shown).toContainEqual({ name: 'LANYARD_POOL_SIZE', value: '10', source: 'default' });
    expect(JSON.stringify(shown)).not.toContain('hush');
  });

  it('shows the settings as a table', async () => {
    const { status, stdout, stderr } = await operator.run(['config']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^LANYARD_DEMO +on +default$/m);
    expect(stdout).not.toContain('hush');
  });
});
