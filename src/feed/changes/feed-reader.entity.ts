import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { NULLABLE_TIMESTAMP, TIMESTAMP, RefersTo, NULLABLE_TEXT } from '../../data/schema/columns';
import { WithFunctions } from '../../data/schema/functions';
import { READER_FUNCTIONS } from './feed-reader.functions';

/**
 * A reader of an organization's changes whose place in the feed is stored here: a webhook, or a method with `@OnChanges`.
 * Clients of the feed keep theirs as a cursor.
 */
@Entity('feed_readers')
@Index('feed_readers_organization_idx', ['organizationId', 'createdAt', 'id'])
@Index('feed_readers_subscription_idx', ['subscription', 'organizationId'], { unique: true })
@RefersTo('OrganizationEntity', 'organizationId', 'feed_readers_organization_fkey')
@WithFunctions(READER_FUNCTIONS)
export class FeedReaderEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('integer') organizationId: number;
  @Column(TIMESTAMP) createdAt: Date;
  /** Where a webhook sends, and the secrets that it signs with. A method has none of them. */
  @Column(NULLABLE_TEXT) url: string | null;
  @Column(NULLABLE_TEXT) secret: string | null;
  @Column(NULLABLE_TEXT) oldSecret: string | null;
  @Column(NULLABLE_TIMESTAMP) oldExpiresAt: Date | null;
  /** The API keys that a webhook lives as long as: the one that registered it, and its successors. Null if it is the operator's. */
  @Column('uuid', { array: true, nullable: true }) apiKeyIds: string[] | null;
  /** The name of a method with `@OnChanges`. A webhook has none. */
  @Column(NULLABLE_TEXT) subscription: string | null;
  @Column('text', { array: true }) resources: string[];
  /** Where the next page begins. */
  @Column('text') cursor: string;
  /** Whether the reader has yet to be told that a snapshot has ended. */
  @Column('boolean') endsSnapshot: boolean;
  /** The snapshot of PostgreSQL whose changes the reader all has. Null while it has yet to catch up. */
  @Column(NULLABLE_TEXT) caughtUpTo: string | null;
  /** The generation of the log that `caughtUpTo` is about. */
  @Column(NULLABLE_TEXT) caughtUpLog: string | null;
  /** Attempts since the last success. */
  @Column('integer', { default: 0 }) failures: number;
  @Column(NULLABLE_TIMESTAMP) failingSince: Date | null;
  @Column(NULLABLE_TIMESTAMP) nextAttemptAt: Date | null;
  /** When the cursor was stored last, or an attempt ended. */
  @Column(NULLABLE_TIMESTAMP) movedAt: Date | null;
  /** When the oldest change was made that waits, while the reader is failing or catching up. */
  @Column(NULLABLE_TIMESTAMP) waitingSince: Date | null;
  @Column(NULLABLE_TIMESTAMP) lastSuccessAt: Date | null;
  @Column('integer', { nullable: true }) lastStatus: number | null;
  @Column(NULLABLE_TEXT) lastError: string | null;
  @Column(NULLABLE_TIMESTAMP) disabledAt: Date | null;
  /** When the database was recognized as a copy of another one. Nothing is delivered until the operator resumes it. */
  @Column(NULLABLE_TIMESTAMP) pausedAt: Date | null;
}

export const READER_STATES = ['active', 'failing', 'paused', 'disabled'] as const;
export type ReaderState = (typeof READER_STATES)[number];

export function stateOf({ disabledAt, pausedAt, failingSince }: FeedReaderEntity): ReaderState {
  if (disabledAt) return 'disabled';
  if (pausedAt) return 'paused';
  return failingSince ? 'failing' : 'active';
}

/** A URL as it may be shown: its query may hold a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/** What the log says about a reader. */
export const readerFields = ({ id, organizationId, url, subscription }: FeedReaderEntity) => ({
  webhookId: id,
  organizationId,
  url: url === null ? undefined : withoutQuery(url),
  subscription: subscription ?? undefined,
});
