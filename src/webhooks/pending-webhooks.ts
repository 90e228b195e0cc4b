import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { FeedResources } from '../changes/feed-resource';
import { Subscribers } from '../changes/subscribers';
import { WebhookClock } from '../changes/feed-clock';
import { WebhookLeader } from '../changes/feed-leader';
import { WebhookEntity } from '../changes/feed-reader.entity';
import { POLL } from '../changes/feed-readers.sql';

/** How often the cursor of an idle webhook is stored, so that its position is not pruned. */
export const CURSOR_REFRESH_MS = 3_600_000;

interface PollResult {
  snapshot: string;
  log: string;
  ids: string[];
  changed: string[];
}

interface Pending {
  /** The last poll that found changes for the webhook. */
  poll: number;
  /** Since when the oldest of them waits. */
  since: Date;
}

/**
 * The webhooks that are not known to be idle. A webhook that a poll has found stays here until a page shows that nothing waits
 * for it, so that no error can make it forgotten. An idle webhook costs nothing here, and a part of one statement a second.
 */
@Injectable()
export class PendingWebhooks {
  private readonly pending = new Map<string, Pending>();
  private polls = 0;
  private snapshot: string | null = null;
  private log?: string;

  constructor(
    private readonly leader: WebhookLeader,
    private readonly clock: WebhookClock,
    private readonly resources: FeedResources,
    private readonly subscribers: Subscribers,
    @InjectRepository(WebhookEntity) private readonly webhooks: Repository<WebhookEntity>,
  ) {}

  /** When the oldest change that waits for a webhook was made, or else noticed. */
  get waitingSince(): Date | undefined {
    const moments = [...this.pending.values()].map(({ since }) => since);
    return moments.sort((one, other) => one.getTime() - other.getTime())[0];
  }

  /** Notes when the oldest change was made that a webhook is sent. */
  noteWaiting(id: string, since: Date): void {
    const entry = this.pending.get(id);
    if (entry) entry.since = since;
  }

  /** Forgets what earlier polls have found: the next one looks at all webhooks. */
  reset(): void {
    this.pending.clear();
    this.snapshot = null;
  }

  /** One statement finds the webhooks to look at, however many are idle. @param busy ids that a delivery has in hand */
  async loadDueWebhooks(busy: string[]): Promise<WebhookEntity[]> {
    const now = this.clock.now();
    const inHand = new Set(busy);
    const waiting = [...this.pending.keys()].filter((id) => !inHand.has(id));
    const refreshBefore = new Date(now.getTime() - CURSOR_REFRESH_MS);
    const values = [this.snapshot, now, waiting, busy, refreshBefore, this.resources.numbers, this.subscribers.names];
    const [result] = await this.leader.run((manager) => manager.query<[PollResult]>(POLL, values));
    const isOtherLog = this.log !== undefined && this.log !== result.log;
    this.log = result.log;
    this.snapshot = isOtherLog ? null : result.snapshot;
    this.add(result, waiting, now);
    if (result.ids.length === 0) return [];
    const order = { movedAt: { direction: 'ASC', nulls: 'FIRST' } } as const;
    const where = { id: In(result.ids) };
    return this.leader.run((manager) => manager.withRepository(this.webhooks).find({ where, order }));
  }

  private add({ ids, changed }: PollResult, waiting: string[], now: Date): void {
    this.polls++;
    const due = new Set(ids);
    // Disabled or deleted meanwhile, or waiting for the next attempt: the statement names them when they are due again.
    for (const id of waiting) if (!due.has(id)) this.pending.delete(id);
    for (const id of ids) if (!this.pending.has(id)) this.pending.set(id, { poll: this.polls, since: now });
    for (const id of changed) this.pending.set(id, { poll: this.polls, since: this.pending.get(id)?.since ?? now });
  }

  /** The last poll that found changes for a webhook; to be asked before its page is read. */
  lastPoll(id: string): number | undefined {
    return this.pending.get(id)?.poll;
  }

  /** Nothing waits for the webhook, unless a poll has found changes since `poll`. */
  remove(id: string, poll: number | undefined): void {
    if (this.pending.get(id)?.poll === poll) this.pending.delete(id);
  }
}
