import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import type { Json } from './statements';
import { sqlState, TryAgain } from './errors';

/** For how long an answer is given again. */
const KEPT = `interval '24 hours'`;

/**
 * What is stored under an idempotency key `$2` of an API key `$1`, and whether no other transaction works on it. The
 * lock is let go with the transaction, also when its process dies.
 */
const CLAIM = `
  select free, fingerprint = $3 as same, answer
  from (select pg_try_advisory_xact_lock(hashtextextended($1 || ' ' || $2, 0)) as free) lock
    left join idempotent_answers on api_key_id = $1::uuid and idempotency_key = $2 and created_at > now() - ${KEPT}`;

/** Has a row when nothing was stored that still counts. */
const STORE = `
  insert into idempotent_answers as a (api_key_id, idempotency_key, fingerprint, answer) values ($1, $2, $3, $4)
  on conflict (api_key_id, idempotency_key) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at
    where a.created_at <= now() - ${KEPT}
  returning 1`;

/** Few at a time, so that nothing else waits; what another process is deleting is left to it. */
const BATCH = 1000;
const SWEEP = `
  with old as (
    select api_key_id, idempotency_key from idempotent_answers where created_at <= now() - ${KEPT}
    order by created_at limit ${BATCH} for update skip locked
  )
  delete from idempotent_answers a using old
  where a.api_key_id = old.api_key_id and a.idempotency_key = old.idempotency_key returning 1`;
/** milliseconds */
const SWEPT_EVERY = 60_000;

/** A request that is carried out once, however often it is sent. */
export interface Once {
  /** the client's name for it */
  key: string;
  /** SHA-256 of what it asks for */
  fingerprint: Buffer;
  /** to be called when the stored answer of the first is given */
  replayed(): void;
  /** the error for a key that stands for another request, or whose first request still runs */
  refusal(reason: 'used' | 'running'): Error;
}

/** The first answers to requests with an Idempotency-Key (docs/decisions/0012). */
@Injectable()
export class IdempotentAnswers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Idempotency');
  private sweeping?: NodeJS.Timeout;
  private lastSweep = Promise.resolve();
  private isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Does the work, unless it was done before. Its answer is stored in the transaction of the write: afterwards both are
   * there, or none.
   * @throws the refusal, when the key stands for another request, and while the first one runs
   */
  async once(
    manager: EntityManager,
    apiKeyId: string,
    { key, fingerprint, replayed, refusal }: Once,
    work: (manager: EntityManager) => Promise<Json>,
  ): Promise<Json> {
    type Claim = { free: boolean; same: boolean | null; answer: Json | null };
    const [claim] = await manager.query<Claim[]>(CLAIM, [apiKeyId, key, fingerprint]);
    if (typeof claim?.answer === 'string') {
      if (!claim.same) throw refusal('used');
      replayed();
      return claim.answer;
    }
    if (!claim?.free) throw refusal('running');
    const answer = await work(manager);
    const stored = await manager.query<unknown[]>(STORE, [apiKeyId, key, fingerprint, answer]);
    // The first one ended between the look and the lock: its answer will be found.
    if (stored.length === 0) throw new TryAgain();
    return answer;
  }

  /** Deletes answers that no longer count. @returns how many */
  async sweep(): Promise<number> {
    let swept = 0;
    for (let batch = BATCH; batch === BATCH && !this.isStopping; swept += batch) {
      batch = (await this.dataSource.query<[unknown[], number]>(SWEEP))[1];
    }
    return swept;
  }

  onApplicationBootstrap(): void {
    const sweep = (): void => void (this.lastSweep = this.trySweep());
    this.sweeping = setInterval(sweep, SWEPT_EVERY).unref();
    sweep();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.sweeping);
    this.isStopping = true;
    await this.lastSweep;
  }

  private async trySweep(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.logger.warn({ message: 'Old idempotent answers could not be swept', sqlState: sqlState(error) });
    }
  }
}
