import type { Command } from 'commander';
import { version } from '../../../package.json';
import { type Config, ConfigError, readConfig } from '../../config';
import { findDatabase } from '../../data/schema/open';
import { EmbeddedPostgresError } from '../../data/embedded-postgres/embedded-postgres-error';
import { RedisTokenBucketStore } from '../../http/rate-limit/redis-token-bucket.store';
import { RedisConnection } from '../../http/rate-limit/redis';
import { COMMAND_NAME } from '../command-name';
import { addCommand } from '../arguments';
import type { Session } from '../session';
import { SUMMARIES } from '../summaries';
import { type DatabaseStatus, StatusService, UNKNOWN_COUNTS } from '../../observability/status.service';
import { CommandError } from '../terminal/terminal';

/** The command `status`. */
export function statusCommand(program: Command, session: Session): void {
  addCommand(program, 'status', {
    summary: SUMMARIES.status,
    notes:
      'It exits with status 1 if it cannot reach the database. It stores nothing and applies no migrations; in Redis it ' +
      'takes one token, from a bucket of its own. A key is expiring if it expires within 7 days. The servers update the ' +
      'number of requests once a minute.',
    example: 'status',
  }).action(async () => {
    const config = readConfig();
    const [status, redis] = await Promise.all([databaseStatus(session, config), redisStatus(config)]);
    await session.print({ version, ...status, redis }, { hint: warningOf(status) });
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

async function redisStatus({ redisUrl, redisSentinels }: Config) {
  if (!redisUrl) return null;
  const redis = new RedisConnection(redisUrl, redisSentinels);
  try {
    await redis.waitUntilReady();
    // It takes a token as servers do, because a replica, or a Redis without memory, serves only reads.
    await new RedisTokenBucketStore(redis).take('status', { maxTokens: 1, refillRate: 1 });
    const about = await redis.client.info('server').catch(() => '');
    const [, version = null] = /^redis_version:(\S+)/m.exec(about) ?? [];
    return { reachable: true, version };
  } catch (error) {
    return { reachable: false, error: (redis.lastError ?? (error as Error)).message, version: null };
  } finally {
    await redis.close();
  }
}

/** What is not as it should be in a status that can be read. */
function warningOf({ serversWithoutRedis, webhooks }: DatabaseStatus): string | undefined {
  const warnings = [];
  if (serversWithoutRedis !== null && serversWithoutRedis > 1)
    warnings.push(`Each key has its limits ${serversWithoutRedis} times: so many servers run without Redis.`);
  if (webhooks && webhooks.paused > 0) warnings.push(`To resume paused webhooks: ${COMMAND_NAME} webhooks resume`);
  return warnings.join('\n') || undefined;
}
