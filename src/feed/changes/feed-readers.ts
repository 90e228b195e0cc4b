import { GoneException, Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, IsNull, Repository } from 'typeorm';
import { ReservedConnection } from '../../data/database/reserved-connection';
import type { JsonText } from '../../data/database/statements';
import { Transactions } from '../../data/database/transactions';
import { type ChangesPage, ChangesService, ForeignCursor } from './changes.service';
import { FeedClock } from './feed-clock';
import { FeedReaderEntity, readerFields } from './feed-reader.entity';
import { recordAudit } from '../../access/audit-log.service';
import { DELETE_WITHOUT_KEY, IS_DUE, RESTART_WAITS } from './feed-readers.sql';
import { SentChanges } from './sent-changes';

const MAX_CHANGES = 100;
const MAX_BYTES = 256 << 10;
/** How often the cursor of an idle reader is stored, so that its position is not pruned. */
const CURSOR_REFRESH_MS = 3_600_000;

/** A page to deliver, and the reader as it was when the page was read. */
export type ReaderPage = ChangesPage & { reader: FeedReaderEntity };

/** Reads the feed for its readers, and stores how far each of them has it. All of it runs on the leader's connection. */
@Injectable()
export class FeedReaders {
  private readonly logger = new Logger('Webhooks');

  constructor(
    private readonly connection: ReservedConnection,
    private readonly changes: ChangesService,
    private readonly sent: SentChanges,
    private readonly clock: FeedClock,
    private readonly transactions: Transactions,
    @InjectRepository(FeedReaderEntity) private readonly readers: Repository<FeedReaderEntity>,
  ) {}

  /**
   * The readers for which there may be a page, the one that has waited longest first.
   * @param inHand ids of readers that a delivery is under way for
   * @param subscriptions the names of this server's methods
   */
  async due(inHand: string[], subscriptions: string[]): Promise<FeedReaderEntity[]> {
    const now = this.clock.now();
    const refreshBefore = new Date(now.getTime() - CURSOR_REFRESH_MS);
    const { names, numbers } = this.changes.resources;
    await this.connection.run((manager) => manager.query(RESTART_WAITS, [now]));
    return this.connection.run((manager) =>
      manager
        .withRepository(this.readers)
        .createQueryBuilder('r')
        .where(IS_DUE, { inHand, subscriptions, now, refreshBefore, names, numbers })
        .orderBy('r.movedAt', 'ASC', 'NULLS FIRST')
        .getMany(),
    );
  }

  /** Deletes the webhooks whose API keys are no longer valid. A webhook lives as long as its key. */
  async deleteWithoutKey(): Promise<void> {
    await this.connection.run((leader) =>
      leader.transaction(async (manager) => {
        const [deleted] = await manager.query<[Pick<FeedReaderEntity, 'id' | 'organizationId'>[]]>(DELETE_WITHOUT_KEY);
        for (const { id, organizationId } of deleted) {
          const entry = { organizationId, operation: 'webhooks delete', resource: 'webhooks', id };
          await recordAudit(manager, { ...entry, change: 'deleted' });
        }
      }),
    );
  }

  /** The page to deliver: one with changes, or the empty one that tells that a snapshot has ended. */
  async nextPage(id: string): Promise<ReaderPage | undefined> {
    // The operator may have disabled, deleted or moved the reader while it waited for its turn.
    const where = { id, disabledAt: IsNull(), pausedAt: IsNull() };
    let reader = await this.connection.run((manager) => manager.withRepository(this.readers).findOneBy(where));
    while (reader) {
      const page = await this.readPage(reader);
      if (!page) {
        reader = await this.restartSnapshot(reader);
        continue;
      }
      const hasChanges = page.changes.length > 0;
      if (reader.endsSnapshot && page.phase === 'changes') {
        return { ...page, reader, changes: [], cursor: reader.cursor, hasMore: page.hasMore || hasChanges };
      }
      if (hasChanges) return { ...page, reader };
      const stored = { cursor: page.cursor, ...placeAfter(page), nextAttemptAt: null, waitingSince: null };
      reader = await this.updateIfUnmoved(reader, stored);
      if (!page.hasMore) return undefined;
    }
    return undefined;
  }

  /** @returns undefined when the position of the cursor is no longer kept */
  private async readPage(reader: FeedReaderEntity): Promise<ChangesPage | undefined> {
    const { id, organizationId, cursor } = reader;
    const query = { cursor, limit: MAX_CHANGES };
    try {
      const page = await this.read(() => this.changes.page({ organizationId, keyId: '' }, query, MAX_BYTES));
      this.sent.note(id, organizationId, page.newest);
      return page;
    } catch (error) {
      if (error instanceof ForeignCursor) await this.pause(reader);
      if (error instanceof GoneException) return undefined;
      throw error;
    }
  }

  /** A cursor of the organization that begins now, on the leader's connection. */
  start(organizationId: number, resources: string[], since?: 'now'): Promise<string> {
    return this.read(() => this.changes.start({ organizationId, keyId: '' }, { resources, since }));
  }

  /** Reads the feed on the leader's connection, where no request of the organization has to wait for it. */
  private read<T>(work: () => Promise<T>): Promise<T> {
    return this.connection.run((manager) => this.transactions.runOn(manager, work, { isBackground: true }));
  }

  /** The cursor is of another database, of which this one is a copy. A restore that was still running may bring one. */
  private async pause(reader: FeedReaderEntity): Promise<void> {
    const updated = await this.updateIfUnmoved(reader, { pausedAt: this.clock.now() }, { pausedAt: IsNull() });
    const message = 'Webhook paused: its cursor belongs to another database';
    if (updated) this.logger.warn({ message, ...readerFields(reader) });
  }

  /** The position of the reader is no longer kept, so it gets everything again. */
  private async restartSnapshot(reader: FeedReaderEntity): Promise<FeedReaderEntity | null> {
    const cursor = await this.start(reader.organizationId, reader.resources);
    const change = { cursor, endsSnapshot: true, caughtUpTo: null };
    // A paused reader waits for its operator: another database may still send to its receiver.
    const updated = await this.updateIfUnmoved(reader, change, { pausedAt: IsNull() });
    const message = 'Webhook restarts with a full snapshot: its position has expired';
    if (updated) this.logger.warn({ message, ...readerFields(reader) });
    return updated;
  }

  /** @returns null when the operator has moved or deleted the reader meanwhile, which then stays as it is */
  async updateIfUnmoved(
    reader: FeedReaderEntity,
    change: Partial<FeedReaderEntity>,
    where: FindOptionsWhere<FeedReaderEntity> = {},
  ): Promise<FeedReaderEntity | null> {
    const { id, cursor } = reader;
    const values = { ...change, movedAt: this.clock.now() };
    const updated = await this.connection.run((manager) =>
      manager
        .withRepository(this.readers)
        .createQueryBuilder()
        .update()
        .set(values)
        .where({ id, cursor, ...where })
        .returning(['disabledAt', 'pausedAt'])
        .execute(),
    );
    const [row] = updated.raw as { disabled_at: Date | null; paused_at: Date | null }[];
    return row ? { ...reader, ...values, disabledAt: row.disabled_at, pausedAt: row.paused_at } : null;
  }
}

/** What is stored of a reader that has a page: with the last one it has caught up. */
export function placeAfter({ hasMore, readAt }: ChangesPage): Partial<FeedReaderEntity> {
  return hasMore || !readAt ? {} : { caughtUpTo: readAt.snapshot, caughtUpLog: readAt.generation };
}

export const changedAt = (change: JsonText): Date => new Date((change.toJSON() as { at: string }).at);
