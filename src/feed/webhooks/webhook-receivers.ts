import { Injectable } from '@nestjs/common';
import { deliveryTurns, type Receivers } from '../changes/feed-delivery';
import type { FeedReaderEntity } from '../changes/feed-reader.entity';
import type { ReaderPage } from '../changes/feed-readers';
import { FeedSender } from '../changes/feed-sender';
import { messageId, TIMEOUT_ERROR, type Webhook, WebhookClient } from './webhook-client';

/**
 * Connections to receivers of this process, how many of them failing and slow receivers may hold, and how many of these slow
 * ones. A receiver that hangs holds its connection for 15 seconds, so it must not delay others that fail quickly and recover.
 */
const MAX_DELIVERIES = 8;
const MAX_TROUBLED_DELIVERIES = 4;
const MAX_SLOW_DELIVERIES = 2;
const SLOW_MS = 1_000;

/** Delivers pages of the change feed by HTTP. */
@Injectable()
export class WebhookReceivers implements Receivers {
  /** Five days. */
  readonly maxFailingMs = 5 * 86_400_000;
  private readonly all = deliveryTurns(MAX_DELIVERIES);
  private readonly troubled = deliveryTurns(MAX_TROUBLED_DELIVERIES);
  private readonly slow = deliveryTurns(MAX_SLOW_DELIVERIES);
  /** The ids of readers whose last attempt was slow. */
  private readonly slowReaders = new Set<string>();

  constructor(
    private readonly client: WebhookClient,
    sender: FeedSender,
  ) {
    sender.deliverWebhooksBy(this);
  }

  inTurn<T>(reader: FeedReaderEntity, delivery: () => Promise<T>): Promise<T> {
    const { organizationId } = reader;
    const inSlot = (): Promise<T> => this.all.run(organizationId, delivery);
    const ofTroubled = (): Promise<T> => this.troubled.run(organizationId, inSlot);
    if (this.isSlow(reader)) return this.slow.run(organizationId, ofTroubled);
    return isFailing(reader) ? ofTroubled() : inSlot();
  }

  async deliver({ reader, phase, changes, hasMore }: ReaderPage, signal: AbortSignal) {
    const fields = `,"phase":"${phase}","changes":[${changes.join(',')}],"hasMore":${hasMore}`;
    const id = messageId(reader.id, reader.cursor, phase, ...changes.map(({ text }) => text));
    const wasSlow = this.isSlow(reader);
    const noRoom = new AbortController();
    const ended = AbortSignal.any([signal, noRoom.signal]);
    const sent = this.client.send(reader as Webhook, { type: 'changes', id, fields }, new Date(), ended);
    this.slowReaders.delete(reader.id);
    const timer = setTimeout(() => {
      this.slowReaders.add(reader.id);
      // Without room among the slow ones it is sent again when there is some.
      if (!wasSlow && !this.countAsSlow(reader, sent)) noRoom.abort();
    }, SLOW_MS);
    const result = await sent;
    clearTimeout(timer);
    return noRoom.signal.aborted && 'error' in result ? undefined : result;
  }

  private isSlow({ id, lastError }: FeedReaderEntity): boolean {
    return lastError === TIMEOUT_ERROR || this.slowReaders.has(id);
  }

  /** Counts a delivery among the slow ones until it ends. @returns whether there was room */
  private countAsSlow(reader: FeedReaderEntity, delivery: Promise<unknown>): boolean {
    const { organizationId } = reader;
    const added = isFailing(reader) ? [this.slow] : [this.slow, this.troubled];
    if (!added.every((turns) => turns.hasFreeSlot(organizationId))) return false;
    for (const turns of added) void turns.run(organizationId, () => delivery);
    return true;
  }
}

const isFailing = ({ failures }: FeedReaderEntity): boolean => failures > 0;
