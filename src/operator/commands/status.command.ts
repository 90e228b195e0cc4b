import type { Command } from 'commander';
import { version } from '../../../package.json';
import { READER_STATES } from '../../changes/feed-reader.entity';
import { type Config, ConfigError, readConfig } from '../../config';
import { findDatabase } from '../../schema/open';
import { escapeInvisible } from '../../datasets/quote';
import { EmbeddedPostgresError } from '../../embedded-postgres/embedded-postgres-error';
import { RedisTokenBucketStore } from '../../rate-limit/redis-token-bucket.store';
import { RedisConnection } from '../../rate-limit/redis';
import { COMMAND_NAME } from '../command-name';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import {
  type DatabaseStatus,
  type StateCounts,
  StatusService,
  UNKNOWN_COUNTS,
} from '../../observability/status.service';
import { formatNumber, formatPairs, formatTable } from '../terminal/table';
import { CommandError, applyStyle } from '../terminal/terminal';

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

interface RedisStatus {
  reachable: boolean;
  error?: string;
  version: string | null;
}

/** The command `status`. */
export function statusCommand(program: Command, session: Session): void {
  addCommand(program, 'status', {
    summary:
      'Show the state of the database, Redis, migrations, keys, leads and webhooks, and the busiest keys of the last hour.',
    jsonResult: STATUS_JSON,
    example: 'status',
  })
    .addHelpText('after', NOTES)
    .action(async () => {
      const config = readConfig();
      const [status, redis] = await Promise.all([databaseStatus(session, config), redisStatus(config)]);
      await session.print({ version, ...status, redis }, () => statusText(status, redis));
      if (!status.database.reachable) throw new CommandError('Cannot reach the database.');
    });
}

async function databaseStatus(session: Session, { databaseUrl }: Config): Promise<DatabaseStatus> {
  try {
    return await session.withServices(
      (services, { isEmbedded }) => services.get(StatusService).status(isEmbedded),
      findDatabase,
    );
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof EmbeddedPostgresError)) throw error;
    const embedded = databaseUrl === undefined;
    const database = { reachable: false, error: error.message, embedded, version: null, size: null };
    return { database, serversWithoutRedis: null, migrations: null, ...UNKNOWN_COUNTS };
  }
}

async function redisStatus({ redisUrl, redisSentinels }: Config): Promise<RedisStatus | null> {
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

function statusText(status: DatabaseStatus, redis: RedisStatus | null): string {
  const { database, serversWithoutRedis, subscriptions, busiestKeys } = status;
  const facts = formatPairs([
    ['Lanyard', version],
    ['Database', databaseText(database)],
    ['Redis', redisText(redis, serversWithoutRedis ?? 0)],
    ['Migrations', ifKnown(status.migrations, migrationsText)],
    ['Organizations', ifKnown(status.organizations, formatNumber)],
    ['Keys', ifKnown(status.keys, keysText)],
    ['Leads', ifKnown(status.leads, formatNumber)],
    ['Webhooks', ifKnown(status.webhooks, statesText)],
    ...(subscriptions ?? []).map((each): [string, string] => [`@OnChanges ${each.name}`, subscriptionText(each)]),
  ]);
  return busiestKeys ? `${facts}\n\n${busiestText(busiestKeys)}` : facts;
}

const ifKnown = <T>(value: T | null, text: (value: T) => string): string => (value === null ? 'unknown' : text(value));

type Known<Name extends keyof DatabaseStatus> = NonNullable<DatabaseStatus[Name]>;

const warning = (text: string): string => applyStyle('yellow', text);

function databaseText({ reachable, error, embedded, version, size }: DatabaseStatus['database']): string {
  if (!reachable) return `${applyStyle('red', 'unreachable')}: ${error}`;
  const name = `${embedded ? 'embedded ' : ''}PostgreSQL ${version?.split(' ')[0]}`;
  return `${applyStyle('green', 'ok')}: ${name}, ${(Number(size) / 2 ** 20).toFixed(1)} MiB`;
}

function redisText(redis: RedisStatus | null, serversWithoutRedis: number): string {
  if (serversWithoutRedis > 1)
    return warning(
      `${serversWithoutRedis} servers run without Redis, so each key gets its limits ${serversWithoutRedis} times`,
    );
  if (!redis) return 'not configured: each process enforces rate limits on its own';
  if (!redis.reachable) return warning(`unreachable (${redis.error}): each process enforces rate limits on its own`);
  return `${applyStyle('green', 'ok')}${redis.version ? `: Redis ${redis.version}` : ''}`;
}

function migrationsText({ applied, pending }: Known<'migrations'>): string {
  if (pending.length === 0) return `${applied} applied, none pending`;
  return `${applied} applied, ${warning(`${pending.length} pending`)}: ${pending.join(', ')}`;
}

function keysText({ active, expiring, expired, revoked, scopes }: Known<'keys'>): string {
  const limited = (['read', 'capture'] as const)
    .filter((scope) => scopes[scope] > 0)
    .map((scope) => `${formatNumber(scopes[scope])} ${scope}`);
  const soon = `${formatNumber(expiring)} ${expiring === 1 ? 'expires' : 'expire'} within 7 days`;
  return (
    `${formatNumber(active)} active${limited.length > 0 ? ` (of which ${limited.join(', ')})` : ''}` +
    `${expiring > 0 ? ` (${warning(soon)})` : ''}, ${formatNumber(expired)} expired, ${formatNumber(revoked)} revoked`
  );
}

function statesText(counts: StateCounts): string {
  const parts = READER_STATES.map((state) => {
    const text = `${formatNumber(counts[state])} ${state}`;
    const isWarning = counts[state] > 0 && (state === 'failing' || state === 'paused');
    return isWarning ? warning(text) : text;
  });
  const resumeHint = counts.paused > 0 ? ` (to resume: ${COMMAND_NAME} webhooks resume)` : '';
  return parts.join(', ') + resumeHint;
}

function subscriptionText({ lastError, waitingSince, ...counts }: Known<'subscriptions'>[number]): string {
  const error = lastError === null ? '' : `, last error ${lastError}`;
  const waiting = waitingSince === null ? '' : `, changes wait since ${waitingSince}`;
  return statesText(counts) + error + waiting;
}

function busiestText(keys: Known<'busiestKeys'>): string {
  if (keys.length === 0) return 'No requests were recorded in the last hour.';
  const rows = keys.map(({ prefix, label, organization: { id, name }, requests }) => [
    `${prefix}…`,
    label && escapeInvisible(label),
    `${id} ${escapeInvisible(name)}`,
    formatNumber(requests),
  ]);
  return `Busiest keys of the last hour:\n${formatTable(['key', 'label', 'organization', 'requests'], rows)}`;
}
