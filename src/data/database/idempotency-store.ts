import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { IdempotencyKeyInUse, IdempotencyKeyReused, ResponseTooLarge, ConcurrentChange } from '../../errors/exceptions';
import type { Caller } from './statements';
import { Writes } from './writes';

/** How long a response is kept. */
const RETENTION = `interval '24 hours'`;

/**
 * What is stored under an idempotency key `$2` of an API key `$1`, and whether no other transaction works on it. The
 * lock is released with the transaction, also when its process dies.
 */
export const CLAIM_KEY = `
  select free, fingerprint = $3 as same, answer as body, status, headers
  from (select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0)) as free) lock
    left join idempotent_answers on api_key_id = $1::uuid and idempotency_key = $2 and created_at > now() - ${RETENTION}`;

/** Stores a response. Returns no row if an unexpired response is already stored under the key. */
export const STORE_RESPONSE = `
  insert into idempotent_answers as a (api_key_id, idempotency_key, fingerprint, answer, status, headers)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (api_key_id, idempotency_key) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, status = excluded.status,
      headers = excluded.headers, created_at = excluded.created_at
    where a.created_at <= now() - ${RETENTION}
  returning 1`;

/** A response may be a thousand times as long as its request, so responses above this size count against a quota. */
const LARGE_RESPONSE_BYTES = 16_384;
/** Maximum size of one stored response in bytes. While it is stored, the locks of its request are held. */
export const MAX_RESPONSE_BYTES = 2 << 20;
/** Maximum size of one response's headers in bytes. They are so small that the total below does not count them. */
const MAX_HEADER_BYTES = 32_768;
/** Maximum total size in bytes of the large responses of one API key, as PostgreSQL stores them. */
const MAX_STORED_BYTES_PER_KEY = 256 << 20;
export const HAS_STORAGE_QUOTA = `
  select coalesce(sum(pg_column_size(answer)), 0) < ${MAX_STORED_BYTES_PER_KEY} as "hasRoom" from idempotent_answers
  where api_key_id = $1 and octet_length(answer) > ${LARGE_RESPONSE_BYTES} and created_at > now() - ${RETENTION}`;

/** Deletes at most `$1` rows. Those that another process is deleting are skipped. */
export const PRUNE_RESPONSES = `
  with old as (
    select api_key_id, idempotency_key from idempotent_answers where created_at <= now() - ${RETENTION}
    order by created_at limit $1 for update skip locked
  )
  delete from idempotent_answers a using old
  where a.api_key_id = old.api_key_id and a.idempotency_key = old.idempotency_key returning 1`;

/** A whole response, as it is stored and replayed. */
export interface StoredResponse {
  status: number;
  /** The headers that the handler set, by their names in lower case. */
  headers: Record<string, string | string[]>;
  /** JSON text. */
  body: string;
}

/** Without a stored response, all but `free` is null. */
interface ClaimRow extends StoredResponse {
  free: boolean;
  same: boolean;
}

/** The responses to requests with an Idempotency-Key (docs/decisions/0012). */
@Injectable()
export class IdempotencyStore {
  constructor(private readonly writes: Writes) {}

  /**
   * Handles a request, unless it was handled before. Its response is stored in the transaction of the write, so that either
   * both are stored or neither. Each API key has its own idempotency keys, even within one organization.
   * @param fingerprint the SHA-256 of the request
   * @param handle runs in the transaction, and again after a deadlock and the like
   * @throws IdempotencyKeyInUse, IdempotencyKeyReused, ResponseTooLarge
   */
  runOnce(
    caller: Caller,
    key: string,
    fingerprint: Buffer,
    handle: () => Promise<StoredResponse>,
  ): Promise<{ response: StoredResponse; isReplayed: boolean }> {
    return this.writes.transaction(caller, async (manager) => {
      const [claim] = await manager.query<ClaimRow[]>(CLAIM_KEY, [caller.keyId, key, fingerprint]);
      if (typeof claim?.body === 'string') {
        if (!claim.same) throw new IdempotencyKeyReused();
        return { response: claim, isReplayed: true };
      }
      if (!claim?.free) throw new IdempotencyKeyInUse();
      const response = await handle();
      const { body, status } = response;
      const headers = JSON.stringify(response.headers);
      const bytes = Buffer.byteLength(body);
      if (bytes > MAX_RESPONSE_BYTES || Buffer.byteLength(headers) > MAX_HEADER_BYTES) throw new ResponseTooLarge();
      if (bytes > LARGE_RESPONSE_BYTES) await requireStorageQuota(manager, caller);
      const stored = await manager.query<unknown[]>(STORE_RESPONSE, [
        caller.keyId,
        key,
        fingerprint,
        body,
        status,
        headers,
      ]);
      // The first request finished after the lookup and before the lock, so a retry finds its response.
      if (stored.length === 0) throw new ConcurrentChange();
      return { response, isReplayed: false };
    });
  }
}

/** @throws ResponseTooLarge */
async function requireStorageQuota(manager: EntityManager, { keyId }: Caller): Promise<void> {
  const [{ hasRoom }] = await manager.query<[{ hasRoom: boolean }]>(HAS_STORAGE_QUOTA, [keyId]);
  if (!hasRoom) throw new ResponseTooLarge();
}
