import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { DataSource } from 'typeorm';
import { Together } from '../database/together';
import { sqlState } from '../database/errors';
import type { Caller } from '../http/caller';
import { hashOf, hasKeyForm } from './key-format';

/**
 * Milliseconds for which a look-up is remembered. A revocation must be in force within five seconds on every process,
 * and a look-up itself may take up to a second.
 */
const REMEMBERED = 4000;
/** Keys looked up by one statement at most. It takes 1–2 ms, for which a valid key that is queued behind it waits. */
const MOST_TOGETHER = 1000;
/** Milliseconds between two notes of the keys' use. */
const USE_NOTED_EVERY = 60_000;

/** `expiresAt` is the moment, in unix milliseconds, from which the key is no longer valid. */
type Known = Caller & { expiresAt: number };

/** Of the keys with these hashes (`$1`) those that are there. (Base64 has line breaks, but not in so short a text.) */
const FIND_KEYS = `
  select encode(hash, 'base64') as hash, id as "keyId", organization_id as "organizationId", max_tokens as "maxTokens",
    refill_rate::float8 as "refillRate",
    coalesce(extract(epoch from expires_at) * 1000, 'infinity')::float8 as "expiresAt"
  from api_keys where hash = any($1) and revoked_at is null`;

/**
 * Notes that keys (`$1`) were used, and how often (`$2`); processes that count the same key add up. Counts are kept for a
 * day. A key that was deleted meanwhile has no use.
 */
const NOTE_USES = `
  with uses as (select * from unnest($1::uuid[], $2::integer[]) as u(id, requests)),
    noted as (update api_keys k set last_used_at = now() from uses where k.id = uses.id returning k.id),
    swept as (delete from key_usage where minute < now() - interval '1 day')
  insert into key_usage (api_key_id, minute, requests)
  select id, date_trunc('minute', now()), requests from uses join noted using (id) order by id
  on conflict (api_key_id, minute) do update set requests = key_usage.requests + excluded.requests`;

/** Says on whose behalf a key speaks. */
@Injectable()
export class AccessService implements OnApplicationShutdown {
  private readonly logger = new Logger(AccessService.name);
  private readonly known = new LRUCache<string, Known>({ max: 10_000, ttl: REMEMBERED });
  /** apart from the known ones, which a flood of invented keys must not push out */
  private readonly unknown = new LRUCache<string, true>({ max: 10_000, ttl: REMEMBERED });
  private readonly underWay = new Map<string, Promise<Known | undefined>>();
  /**
   * Asked for one by one, thousands of invented keys would fill the pool's queue, in which the statements of requests
   * with a known key would wait behind them, and fail. How many may wait is bounded by the open sockets: any other bound
   * would refuse a known key that is to be looked up again.
   */
  private readonly lookingUp = new Together<string, Known | undefined>(
    (_, hashes) => this.load(hashes),
    MOST_TOGETHER,
    () => false,
    Infinity,
  );
  /** requests since the last note, by the id of their key */
  private used = new Map<string, number>();
  private noting: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** The caller, when the key was looked up a moment ago. */
  rememberedCallerOf(key: string): Caller | undefined {
    return this.speakingFor(this.known.get(hashOf(key)));
  }

  /**
   * @returns the caller, or undefined when the key is malformed, unknown, revoked or expired
   * @throws when the database does not answer: a key is never refused for that
   */
  async callerOf(key: string): Promise<Caller | undefined> {
    if (!hasKeyForm(key)) return undefined;
    const hash = hashOf(key);
    return this.speakingFor(this.known.get(hash) ?? (this.unknown.has(hash) ? undefined : await this.lookUp(hash)));
  }

  private speakingFor(known: Known | undefined): Caller | undefined {
    if (!known || known.expiresAt <= Date.now()) return undefined;
    this.noteUse(known.keyId);
    return known;
  }

  /** Requests that arrive together with one key share one look-up. */
  private lookUp(hash: string): Promise<Known | undefined> {
    const started = this.underWay.get(hash);
    if (started) return started;
    const found = this.lookingUp.add(0, hash).finally(() => this.underWay.delete(hash));
    this.underWay.set(hash, found);
    return found;
  }

  private async load(hashes: string[]): Promise<(Known | undefined)[]> {
    const start = performance.now();
    const values = [hashes.map((hash) => Buffer.from(hash, 'base64'))];
    const rows = await this.dataSource.query<(Known & { hash: string })[]>(FIND_KEYS, values);
    const found = new Map(rows.map(({ hash, ...known }) => [hash, known]));
    return hashes.map((hash) => {
      const known = found.get(hash);
      // Remembered from the moment of the question: the answer may already be that old.
      if (known) this.known.set(hash, known, { start });
      else this.unknown.set(hash, true, { start });
      return known;
    });
  }

  private noteUse(id: string): void {
    this.used.set(id, (this.used.get(id) ?? 0) + 1);
    this.noting ??= setTimeout(() => void this.writeUses(), USE_NOTED_EVERY).unref();
  }

  /** The use of keys is written at most once a minute, and never in a request's way. */
  private async writeUses(): Promise<void> {
    this.noting = undefined;
    // In the order of their ids, so that processes do not lock each other out.
    const ids = [...this.used.keys()].sort();
    const requests = ids.map((id) => this.used.get(id));
    this.used = new Map();
    if (ids.length === 0) return;
    try {
      await this.dataSource.query(NOTE_USES, [ids, requests]);
    } catch (error) {
      this.logger.warn({ message: 'The last use of the keys could not be written', sqlState: sqlState(error) });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.noting);
    await this.writeUses();
  }
}
