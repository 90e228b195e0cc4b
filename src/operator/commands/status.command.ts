import { Command } from 'commander';
import { version } from '../../../package.json';
import { Config, ConfigError, readConfig } from '../../config';
import { findDatabase } from '../../schema/open';
import { escapeInvisible } from '../../datasets/quote';
import { EmbeddedPostgresError } from '../../embedded-postgres/embedded-postgres-error';
import { RedisTokenBucketStore } from '../../rate-limit/redis-token-bucket.store';
import { RedisConnection } from '../../rate-limit/redis';
import { COMMAND_NAME } from '../command-name';
import { addCommand, GlobalOptions } from '../arguments';
import type { Session } from '../session';
import {
  type Status,
  StatusService,
  type SubscriptionStatus,
  UNKNOWN_COUNTS,
} from '../../observability/status.service';
import { formatNumber, formatPairs, formatTable } from '../terminal/table';
import { printResult, CommandError, applyStyle } from '../terminal/terminal';

const STATUS_JSON =
  '{version, database: {reachable, error, embedded, version, size}, redis: {reachable, error, version} or null, ' +
  'serversWithoutRedis, migrations: {applied, pending: [name]}, organizations, keys: {active, expiring, expired, revoked, scopes: {all, read, capture}}, leads, ' +
  'webhooks: {active, failing, paused, disabled}, subscriptions: [{name, active, failing, paused, disabled, lastError, ' +
  'waitingSince}], busiestKeys: [{id, prefix, label, organization: {id, name}, ' +
  'requests}]}, with the size in bytes and null for what is unknown';

const NOTES = `
It exits with status 1 if it cannot reach the database. It stores nothing and
applies no migrations; in Redis it takes one token, from a bucket of its own. A
key is expiring if it expires within 7 days. The servers update the number of
requests once a minute.`;

/** The command `status`. */
export function statusCommand(program: Command, session: Session): void {
  addCommand(program, 'status', {
    summary:
      'Show the state of the database, Redis, migrations, keys, leads and webhooks, and the busiest keys of the last hour.',
    jsonResult: STATUS_JSON,
    example: 'status',
  })
    .addHelpText('after', NOTES)
    .action((_, self: Command) => status(session, self.optsWithGlobals()));
}

async function status(session: Session, { json }: GlobalOptions): Promise<void> {
  const config = readConfig();
  const [found, redis] = await Promise.all([databaseStatus(session, config), redisStatus(config)]);
  const all = { version, ...found, redis } satisfies Status;
  await printResult(json, all, () => statusText(all));
  if (!found.database.reachable) throw new CommandError('Cannot reach the database.');
}

async function databaseStatus(session: Session, config: Config): Promise<Omit<Status, 'redis' | 'version'>> {
  try {
    return await session.withServices(
      (services, { isEmbedded }) => services.get(StatusService).status(isEmbedded),
      findDatabase,
    );
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof EmbeddedPostgresError)) throw error;
    const embedded = config.databaseUrl === undefined;
    const database = { reachable: false, error: error.message, embedded, version: null, size: null };
    return { database, serversWithoutRedis: null, migrations: null, ...UNKNOWN_COUNTS };
  }
}

async function redisStatus({ redisUrl, redisSentinels }: Config): Promise<Status['redis']> {
  if (!redisUrl) return null;
  const redis = new RedisConnection(redisUrl, redisSentinels);
  try {
    await redis.waitUntilReady();
    // It takes a token as servers do, because a replica, or a Redis without memory, serves only reads.
    await new RedisTokenBucketStore(redis).take('status', { maxTokens: 1, refillRate: 1 });
    const about = await redis.info('server').catch(() => '');
    const [, version = null] = /^redis_version:(\S+)/m.exec(about) ?? [];
    return { reachable: true, version };
  } catch (error) {
    return { reachable: false, error: (redis.lastError ?? (error as Error)).message, version: null };
  } finally {
    await redis.close();
  }
}

function statusText(status: Status): string {
  const { version, database, migrations, organizations, keys, leads, webhooks, subscriptions, busiestKeys } = status;
  const facts = formatPairs([
    ['Lanyard', version],
    ['Database', databaseText(database)],
    ['Redis', redisText(status)],
    ['Migrations', migrations ? migrationsText(migrations) : UNKNOWN],
    ['Organizations', organizations === null ? UNKNOWN : formatNumber(organizations)],
    ['Keys', keys ? keysText(keys) : UNKNOWN],
    ['Leads', leads === null ? UNKNOWN : formatNumber(leads)],
    ['Webhooks', webhooks ? webhooksText(webhooks) : UNKNOWN],
    ...(subscriptions ?? []).map((each): [string, string] => [`@OnChanges ${each.name}`, subscriptionText(each)]),
  ]);
  return busiestKeys ? `${facts}\n\n${busiestText(busiestKeys)}` : facts;
}

const UNKNOWN = 'unknown';
const warning = (text: string): string => applyStyle('yellow', text);

function databaseText({ reachable, error, embedded, version, size }: Status['database']): string {
  if (!reachable) return `${applyStyle('red', 'unreachable')}: ${error}`;
  const name = `${embedded ? 'embedded ' : ''}PostgreSQL ${version?.split(' ')[0]}`;
  return `${applyStyle('green', 'ok')}: ${name}, ${((size ?? 0) / 2 ** 20).toFixed(1)} MiB`;
}

function redisText({ redis, serversWithoutRedis }: Status): string {
  if (serversWithoutRedis !== null && serversWithoutRedis > 1)
    return warning(
      `${serversWithoutRedis} servers run without Redis, so each key gets its limits ${serversWithoutRedis} times`,
    );
  if (!redis) return 'not configured: each process enforces rate limits on its own';
  if (!redis.reachable) return warning(`unreachable (${redis.error}): each process enforces rate limits on its own`);
  return `${applyStyle('green', 'ok')}${redis.version ? `: Redis ${redis.version}` : ''}`;
}

function migrationsText({ applied, pending }: NonNullable<Status['migrations']>): string {
  if (pending.length === 0) return `${applied} applied, none pending`;
  return `${applied} applied, ${warning(`${pending.length} pending`)}: ${pending.join(', ')}`;
}

function keysText({ active, expiring, expired, revoked, scopes }: NonNullable<Status['keys']>): string {
  const soon =
    expiring > 0
      ? ` (${warning(`${formatNumber(expiring)} ${expiring === 1 ? 'expires' : 'expire'} within 7 days`)})`
      : '';
  const limited = [
    scopes.read && `${formatNumber(scopes.read)} read`,
    scopes.capture && `${formatNumber(scopes.capture)} capture`,
  ]
    .filter(Boolean)
    .join(', ');
  return `${formatNumber(active)} active${limited && ` (of which ${limited})`}${soon}, ${formatNumber(expired)} expired, ${formatNumber(revoked)} revoked`;
}

function webhooksText({ active, failing, paused, disabled }: NonNullable<Status['webhooks']>): string {
  const warned = (count: number, state: string): string => {
    const counted = `${formatNumber(count)} ${state}`;
    return count > 0 ? warning(counted) : counted;
  };
  const resumeHint = paused > 0 ? ` (to resume: ${COMMAND_NAME} webhooks resume)` : '';
  const parts = [
    `${formatNumber(active)} active`,
    warned(failing, 'failing'),
    warned(paused, 'paused'),
    `${formatNumber(disabled)} disabled`,
  ];
  return parts.join(', ') + resumeHint;
}

function subscriptionText({ lastError, waitingSince, ...states }: SubscriptionStatus): string {
  const error = lastError === null ? '' : `, last error ${lastError}`;
  const waiting = waitingSince === null ? '' : `, changes wait since ${waitingSince}`;
  return webhooksText(states) + error + waiting;
}

function busiestText(keys: NonNullable<Status['busiestKeys']>): string {
  if (keys.length === 0) return 'No requests were recorded in the last hour.';
  const rows = keys.map(({ prefix, label, organization: { id, name }, requests }) => [
    `${prefix}…`,
    label && escapeInvisible(label),
    `${id} ${escapeInvisible(name)}`,
    formatNumber(requests),
  ]);
  return `Busiest keys of the last hour:\n${formatTable(['key', 'label', 'organization', 'requests'], rows)}`;
}
