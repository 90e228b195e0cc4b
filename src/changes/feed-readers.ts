import { GoneException, Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, IsNull, Repository } from 'typeorm';
import { type ChangesPage, ChangesService, ForeignCursor } from './changes.service';
import { SentChanges } from './sent-changes';
import { Transactions } from '../database/transactions';
import { CURSOR_REFRESH_MS } from '../webhooks/pending-webhooks';
import { WebhookClock } from './feed-clock';
import { WebhookLeader } from './feed-leader';
import { withoutQuery } from '../webhooks/webhook-url';
import { WebhookEntity } from './feed-reader.entity';

const MAX_CHANGES = 100;
const MAX_BYTES = 256 << 10;
/** A page to deliver, and the webhook as it was when the page was read. */
export type WebhookPage = ChangesPage & { webhook: WebhookEntity };

/** Reads the feed for webhooks, and stores how far each receiver has it. All of it runs on the leader's connection. */
@Injectable()
export class WebhookFeed {
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly leader: WebhookLeader,
    private readonly changes: ChangesService,
    private readonly sent: SentChanges,
    private readonly clock: WebhookClock,
    private readonly transactions: Transactions,
    @InjectRepository(WebhookEntity) private readonly webhooks: Repository<WebhookEntity>,
  ) {}

  /** The page to send: one with changes, or the empty one that tells that a snapshot has ended. */
  async nextPage(source: WebhookEntity): Promise<WebhookPage | undefined> {
    for (let webhook: WebhookEntity | undefined = source; webhook;) {
      const page = await this.readPage(webhook);
      if (!page) {
        webhook = await this.restartSnapshot(webhook);
        continue;
      }
      const { endsSnapshot, cursor } = webhook;
      const hasChanges = page.changes.length > 0;
      if (endsSnapshot && page.phase === 'changes') {
        return { ...page, webhook, changes: [], cursor, hasMore: page.hasMore || hasChanges };
      }
      if (hasChanges) return { ...page, webhook };
      if (!page.hasMore) {
        await this.refreshCursor(webhook, page.cursor);
        return undefined;
      }
      webhook = await this.updateIfUnmoved(webhook, { cursor: page.cursor });
    }
    return undefined;
  }

  /** @returns undefined when the position of the cursor is no longer kept */
  private async readPage(webhook: WebhookEntity): Promise<ChangesPage | undefined> {
    const { id, organizationId, cursor } = webhook;
    const query = { cursor, limit: MAX_CHANGES };
    try {
      const page = await this.read(() => this.changes.page({ organizationId, keyId: '' }, query, MAX_BYTES));
      this.sent.note(id, organizationId, page.newest);
      return page;
    } catch (error) {
      if (error instanceof ForeignCursor) await this.pause(webhook);
      if (error instanceof GoneException) return undefined;
      throw error;
    }
  }

  /** The cursor is of another database, of which this one is a copy. A restore that was still running may bring one. */
  private async pause(webhook: WebhookEntity): Promise<void> {
    const { id: webhookId, organizationId, url } = webhook;
    const updated = await this.updateIfUnmoved(webhook, { pausedAt: this.clock.now() }, { pausedAt: IsNull() });
    const message = 'Webhook paused: its cursor belongs to another database';
    if (updated) this.logger.warn({ message, webhookId, organizationId, url: withoutQuery(url) });
  }

  /** Reads the feed on the leader's connection, where no request of the organization has to wait for it. */
  private read<T>(work: () => Promise<T>): Promise<T> {
    return this.leader.run((manager) => this.transactions.runOn(manager, work, { isBackground: true }));
  }

  private async refreshCursor(webhook: WebhookEntity, cursor: string): Promise<void> {
    const { movedAt, nextAttemptAt } = webhook;
    const age = movedAt ? this.clock.now().getTime() - movedAt.getTime() : Infinity;
    if (age < CURSOR_REFRESH_MS && !nextAttemptAt) return;
    await this.updateIfUnmoved(webhook, { cursor, nextAttemptAt: null, waitingSince: null });
  }

  /** The position of the webhook is no longer kept, so the receiver gets everything again, once it is enabled. */
  private async restartSnapshot(webhook: WebhookEntity): Promise<WebhookEntity | undefined> {
    const { id, organizationId, resources, disabledAt } = webhook;
    if (disabledAt) {
      await this.updateIfUnmoved(webhook, { waitingSince: this.clock.now() });
      return undefined;
    }
    const cursor = await this.read(() => this.changes.start({ organizationId, keyId: '' }, { resources }));
    // A paused webhook waits for its operator: another database may still send to its receiver.
    const where = { pausedAt: IsNull() };
    const updated = await this.updateIfUnmoved(webhook, { cursor, endsSnapshot: true }, where);
    const message = 'Webhook restarts with a full snapshot: its position has expired';
    if (updated) this.logger.warn({ message, webhookId: id, organizationId, url: withoutQuery(webhook.url) });
    return updated;
  }

  /** A page for a disabled webhook stays where it is; only its age is stored, for operators. */
  async storeWaiting(page: WebhookPage): Promise<void> {
    const waitingSince = page.changes[0] ? changedAt(page.changes[0]) : this.clock.now();
    await this.updateIfUnmoved(page.webhook, { waitingSince });
  }

  /** The webhook as its operator wants it now. */
  reload({ id }: WebhookEntity): Promise<WebhookEntity | null> {
    return this.leader.run((manager) => manager.withRepository(this.webhooks).findOneBy({ id }));
  }

  /** @returns undefined when the operator has moved or deleted the webhook meanwhile, which then stays as it is */
  async updateIfUnmoved(
    webhook: WebhookEntity,
    change: Partial<WebhookEntity>,
    where: FindOptionsWhere<WebhookEntity> = {},
  ): Promise<WebhookEntity | undefined> {
    const { id, cursor } = webhook;
    const values = { ...change, movedAt: this.clock.now() };
    const updated = await this.leader.run((manager) =>
      manager
        .withRepository(this.webhooks)
        .createQueryBuilder()
        .update()
        .set(values)
        .where({ id, cursor, ...where })
        .returning(['disabledAt', 'pausedAt'])
        .execute(),
    );
    const [row] = updated.raw as { disabled_at: Date | null; paused_at: Date | null }[];
    return row && { ...webhook, ...values, disabledAt: row.disabled_at, pausedAt: row.paused_at };
  }
}

export const changedAt = (change: string): Date => new Date((JSON.parse(change) as { at: string }).at);
