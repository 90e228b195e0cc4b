import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { Batcher } from '../data/database/batcher';
import { poolOf } from '../data/database/data-source';
import { isConnectionError, logFields, settledQuery } from '../data/database/errors';
import { Overloaded } from '../errors/exceptions';
import type { LimitedCaller } from '../http/pipeline/caller';
import { hashKey, hasKeyForm } from './key-format';

/** A revocation must take effect within five seconds on every process, and a look-up may take up to a second. */
const CACHE_MS = 4000;
/** Maximum number of keys per statement, which takes 1 to 2 ms. A valid key may have to wait for it. */
const MAX_LOOKUPS_AT_ONCE = 1000;
const USAGE_FLUSH_INTERVAL_MS = 60_000;

/** How a key was used since the last flush. */
interface KeyUse {
  requests: number;
  /** Unix time in milliseconds of the last request that the key was accepted for. */
  lastAt: number;
}

/** `expiresAt` is the Unix time in milliseconds from which the key is no longer valid. */
type KnownKey = LimitedCaller & { expiresAt: number };

/** Finds the keys with the hashes `$1`. PostgreSQL breaks long base64 texts into lines, but not one as short as this. */
export const FIND_KEYS = `
  select encode(hash, 'base64') as hash, k.id as "keyId", organization_id as "organizationId", o.name as "organizationName",
    max_tokens as "maxTokens", refill_rate::float8 as "refillRate", simulate, scope,
    coalesce(extract(epoch from expires_at) * 1000, 'infinity')::float8 as "expiresAt"
  from api_keys k join organizations o on o.id = organization_id where hash = any($1) and revoked_at is null`;

/** Adds the use counts `$2` of the keys `$1`, which were last used at the times `$3`, to those of other processes. */
export const ADD_USAGE = `
  with uses as (select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[]) as u(id, requests, used_at)),
    noted as (update api_keys k set last_used_at = greatest(last_used_at, least(used_at, now())) from uses where k.id = uses.id returning k.id)
  insert into key_usage (api_key_id, minute, requests)
  select id, date_trunc('minute', now()), requests from uses join noted using (id) order by id
  on conflict (api_key_id, minute) do update set requests = key_usage.requests + excluded.requests`;

/** Deletes at most `$1` use counts that are older than a day. */
export const PRUNE_USAGE = `
  delete from key_usage where ctid = any(array(
    select ctid from key_usage where minute < now() - interval '1 day' limit $1 for update skip locked)) returning 1`;

/** Finds the caller that an API key belongs to. */
@Injectable()
export class AccessService implements OnApplicationShutdown {
  private readonly logger = new Logger(AccessService.name);
  private readonly knownKeys = new LRUCache<string, KnownKey>({ max: 10_000, ttl: CACHE_MS });
  /** Unknown keys have a cache of their own, so that a flood of invented keys does not evict known ones. */
  private readonly unknownKeys = new LRUCache<string, true>({ max: 10_000, ttl: CACHE_MS });
  /**
   * Looking up thousands of invented keys one by one would fill the pool's queue, where requests with a known key would
   * wait, too. The number of open sockets limits how many look-ups may wait.
   */
  private readonly lookups = new Batcher<string, KnownKey | undefined>(
    (hashes) => this.load(hashes),
    MAX_LOOKUPS_AT_ONCE,
    Infinity,
  );
  /** By the ID of the key. */
  private uses = new Map<string, KeyUse>();
  private readonly flushTimer = setInterval(() => void this.flushUsage(), USAGE_FLUSH_INTERVAL_MS).unref();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * @returns the caller, or undefined if the key is malformed, unknown, revoked or expired
   * @throws if the database does not respond; a key is never rejected for that
   */
  async findCaller(key: string): Promise<LimitedCaller | undefined> {
    const hash = hashKey(key);
    let knownKey = this.knownKeys.get(hash);
    if (!knownKey && hasKeyForm(key) && !this.unknownKeys.has(hash)) knownKey = await this.lookups.add(0, hash);
    if (!knownKey || knownKey.expiresAt <= Date.now()) return undefined;
    this.noteUse(knownKey.keyId);
    return knownKey;
  }

  private noteUse(keyId: string): void {
    const use = this.uses.get(keyId) ?? { requests: 0, lastAt: 0 };
    use.requests++;
    use.lastAt = Date.now();
    this.uses.set(keyId, use);
  }

  private async load(hashes: string[]): Promise<(KnownKey | undefined)[]> {
    const start = performance.now();
    const values = [hashes.map((hash) => Buffer.from(hash, 'base64'))];
    // TypeORM would return an unresponsive connection to the pool, for the next look-up to use.
    const query = poolOf(this.dataSource).query<KnownKey & { hash: string }>(FIND_KEYS, values);
    const { rows } = await settledQuery(FIND_KEYS, query).catch((error: unknown) => {
      throw isConnectionError(error) ? new Overloaded('Keys cannot be looked up') : error;
    });
    const found = new Map(
      rows.map(({ hash, organizationName, ...row }) => [
        hash,
        { ...row, organizationName: encodeURIComponent(organizationName) },
      ]),
    );
    return hashes.map((hash) => {
      const knownKey = found.get(hash);
      // The entry's age counts from the start of the look-up, because the row may already be that old.
      if (knownKey) this.knownKeys.set(hash, knownKey, { start });
      else this.unknownKeys.set(hash, true, { start });
      return knownKey;
    });
  }

  /** Writes the use counts in the background; no request waits for it. */
  private async flushUsage(): Promise<void> {
    // All processes update the keys in the same order, so that they do not deadlock.
    const uses = [...this.uses].sort(([one], [other]) => (one < other ? -1 : 1));
    this.uses = new Map();
    if (uses.length === 0) return;
    const ids = uses.map(([id]) => id);
    const requests = uses.map(([, use]) => use.requests);
    const lastAt = uses.map(([, use]) => new Date(use.lastAt));
    try {
      // TypeORM queues for its connections; this statement uses one of those that are reserved.
      await settledQuery(ADD_USAGE, poolOf(this.dataSource).query(ADD_USAGE, [ids, requests, lastAt]));
    } catch (error) {
      this.logger.warn({ message: 'Cannot store the usage of API keys', ...logFields(error) });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.flushTimer);
    await this.flushUsage();
  }
}
