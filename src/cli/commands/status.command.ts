import { Command } from 'commander';
import { Config, ConfigError, readConfig } from '../../config';
import { mayHoldData } from '../../embedded-postgres/data-directory';
import { EmbeddedPostgresError } from '../../embedded-postgres/embedded-postgres-error';
import { findDatabase } from '../../database/open';
import { closeRedis, createRedis, untilReady } from '../../redis/redis';
import { RedisTokenBucketStore } from '../../rate-limit/redis-token-bucket.store';
import { command, GlobalOptions } from '../arguments';
import { withDatabase } from '../session';
import { Status, StatusService } from './status.service';
import { statusText } from './status.text';
import { answer, Refusal } from '../terminal/terminal';

const RESULT = [
  '{database: {reachable, error, embedded, version, size}, redis: {reachable, error, version} or null,',
  'migrations: {applied, pending: [name]}, organizations, keys: {active, expiring, expired, revoked}, leads,',
  'busiestKeys: [{id, prefix, label, organization: {id, name}, requests}]};',
  'size in bytes, error where something is not reachable, and null for what cannot be looked up',
].join(' ');

/** `status` */
export function statusCommand(program: Command): void {
  command(program, 'status', {
    about: 'Show database, Redis, migrations, keys, leads, and the busiest keys of the last hour.',
    result: RESULT,
    examples: ['status', 'status --json'],
  })
    .addHelpText(
      'after',
      `
It changes nothing that is stored, applies no migration, and exits with 1 when the database does not answer; of Redis it
takes a token, from a bucket of its own. A key counts as expiring when it ends within 7 days. Servers write their counts of requests once a minute, so the last minute may be missing.`,
    )
    .action((_, self: Command) => status(self.optsWithGlobals()));
}

async function status({ json }: GlobalOptions): Promise<void> {
  const config = readConfig();
  const [found, redis] = await Promise.all([ofDatabase(config), ofRedis(config)]);
  await answer(json, { ...found, redis } satisfies Status, () => statusText({ ...found, redis }));
  if (!found.database.reachable) throw new Refusal('the database does not answer');
}

async function ofDatabase(config: Config): Promise<Omit<Status, 'redis'>> {
  try {
    // To look at it would make it.
    if (!config.databaseUrl && !mayHoldData(config.dataDir)) {
      throw new EmbeddedPostgresError(`there is no database yet in ${config.dataDir}`);
    }
    return await withDatabase(async (dataSource, { embedded }) => {
      const service = new StatusService(dataSource);
      const [database, migrations] = [await service.database(embedded), await service.migrations()];
      // Tables that are still to come cannot be asked.
      const isMigrated = migrations.pending.length === 0;
      const { organizations, keys, leads } = isMigrated ? await service.counts() : NOTHING;
      return {
        database,
        migrations,
        organizations,
        keys,
        leads,
        busiestKeys: isMigrated ? await service.busiestKeys() : null,
      };
    }, findDatabase);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof EmbeddedPostgresError)) throw error;
    const embedded = config.databaseUrl === undefined;
    const database = { reachable: false, error: error.message, embedded, version: null, size: null };
    return { database, migrations: null, ...NOTHING, busiestKeys: null };
  }
}

const NOTHING = { organizations: null, keys: null, leads: null };

async function ofRedis({ redisUrl, redisSentinels }: Config): Promise<Status['redis']> {
  if (!redisUrl) return null;
  const redis = createRedis(redisUrl, redisSentinels);
  const buckets = new RedisTokenBucketStore(redis);
  try {
    await untilReady(redis);
    // What servers ask of it: a replica, or one without memory, answers everything else.
    await buckets.take('status', { maxTokens: 1, refillRate: 1 });
    const about = await redis.info('server').catch(() => '');
    const [, version = null] = /^redis_version:(\S+)/m.exec(about) ?? [];
    return { reachable: true, version };
  } catch (error) {
    return { reachable: false, error: (buckets.failure ?? (error as Error)).message, version: null };
  } finally {
    await closeRedis(redis);
  }
}
