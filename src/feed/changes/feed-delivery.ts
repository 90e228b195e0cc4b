import { Injectable, Logger } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { FairQueue } from '../../data/database/fair-queue';
import { type DeliveryResult, isAcknowledged } from './delivery-result';
import { FeedClock } from './feed-clock';
import { type FeedReaderEntity, readerFields, type ReaderState, stateOf } from './feed-reader.entity';
import { changedAt, FeedReaders, placeAfter, type ReaderPage } from './feed-readers';
import { nextAttempt } from './retry';

/** What delivers the pages of one kind of readers. */
export interface Receivers {
  /** Runs work for a reader when it is the turn of the reader's organization. */
  inTurn<T>(reader: FeedReaderEntity, work: () => Promise<T>): Promise<T>;
  /**
   * @param signal ends the delivery; an error then means nothing
   * @returns undefined where it was ended without a result, to be sent again
   */
  deliver(page: ReaderPage, signal: AbortSignal): Promise<DeliveryResult | undefined>;
  /** For how many milliseconds a reader may fail before it is disabled. */
  readonly maxFailingMs: number;
}

/** Timers cannot be longer. A delivery waits for its turn however long that takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Organizations take turns at the slots for deliveries, as they do at the connections of the database. */
export const deliveryTurns = (slots: number): FairQueue => new FairQueue(slots, undefined, NO_TIMEOUT_MS);

const STATE_LOG_MESSAGES: Record<ReaderState, string> = {
  active: 'Webhook recovered',
  failing: 'Webhook delivery failed',
  paused: 'Webhook paused',
  disabled: 'Webhook disabled',
};

/** Delivers one page to one reader, and stores how that ended. */
@Injectable()
export class FeedDelivery {
  private readonly logger = new Logger('Webhooks');
  /** Attempts of this process by their outcome. */
  readonly attempts = { success: 0, failure: 0 };

  constructor(
    private readonly readers: FeedReaders,
    private readonly clock: FeedClock,
  ) {}

  /** @returns the reader when its next page may follow at once */
  async deliver(
    { id }: FeedReaderEntity,
    receivers: Receivers,
    signal: AbortSignal,
  ): Promise<FeedReaderEntity | undefined> {
    if (signal.aborted) return undefined;
    const page = await this.readers.nextPage(id);
    if (!page || signal.aborted) return undefined;
    const result = await receivers.deliver(page, signal);
    if (!result) return undefined;
    // A response counts also when the delivery was ended meanwhile.
    if (isAcknowledged(result)) return this.onDelivered(page, result.status);
    if (!signal.aborted) await this.onFailed(page, result, receivers);
    return undefined;
  }

  private async onDelivered(page: ReaderPage, status: number): Promise<FeedReaderEntity | undefined> {
    this.attempts.success++;
    const { reader, phase, changes, cursor, hasMore } = page;
    const last = changes.at(-1);
    const updated = await this.readers.updateIfUnmoved(reader, {
      cursor,
      ...placeAfter(page),
      endsSnapshot: reader.endsSnapshot && phase === 'snapshot',
      failures: 0,
      failingSince: null,
      nextAttemptAt: null,
      // What follows is not older.
      waitingSince: hasMore && last ? changedAt(last) : null,
      lastSuccessAt: this.clock.now(),
      lastStatus: status,
      lastError: null,
    });
    this.logStateChange(reader, updated);
    return hasMore ? (updated ?? undefined) : undefined;
  }

  private async onFailed({ reader, changes }: ReaderPage, result: DeliveryResult, receivers: Receivers): Promise<void> {
    this.attempts.failure++;
    const now = this.clock.now();
    const failures = reader.failures + 1;
    const failingSince = reader.failingSince ?? now;
    // A receiver wants no more pages when it responds with 410.
    const isUnwanted = 'status' in result && result.status === 410;
    const change = {
      failures,
      failingSince,
      nextAttemptAt: nextAttempt(result, failures, now),
      waitingSince: changes[0] ? changedAt(changes[0]) : (reader.waitingSince ?? now),
      lastStatus: 'status' in result ? result.status : null,
      lastError: 'error' in result ? result.error : null,
      disabledAt: isUnwanted || now.getTime() - failingSince.getTime() >= receivers.maxFailingMs ? now : null,
    };
    // A reader that the operator has disabled or enabled meanwhile stays as it is.
    const where = { disabledAt: IsNull(), failures: reader.failures };
    this.logStateChange(reader, await this.readers.updateIfUnmoved(reader, change, where));
  }

  /** Logs a state that a delivery has changed, and the operator has not. */
  private logStateChange(before: FeedReaderEntity, after: FeedReaderEntity | null): void {
    if (!after) return;
    const state = stateOf(after);
    if (state === stateOf(before) || (after.disabledAt && !after.nextAttemptAt)) return;
    this.logger.warn({
      message: STATE_LOG_MESSAGES[state],
      ...readerFields(after),
      status: after.lastStatus ?? undefined,
      error: after.lastError ?? undefined,
    });
  }
}
