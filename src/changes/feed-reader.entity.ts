import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { NULLABLE_TIMESTAMP, TIMESTAMP, RefersTo, NULLABLE_TEXT } from '../schema/columns';
import { WithFunctions } from '../schema/functions';
import { WEBHOOK_FUNCTIONS } from './feed-reader.functions';

/** A receiver of an organization's changes, and how far it has them: a URL, or a method of this server. */
@Entity('feed_readers')
@Index('feed_readers_organization_idx', ['organizationId', 'createdAt', 'id'])
@Index('feed_readers_subscription_idx', ['subscription', 'organizationId'], { unique: true })
@RefersTo('OrganizationEntity', 'organizationId', 'feed_readers_organization_fkey')
@WithFunctions(WEBHOOK_FUNCTIONS)
export class WebhookEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('integer') organizationId: number;
  @Column(TIMESTAMP) createdAt: Date;
  /** Where to send. For a method it only names the method, in what operators read. */
  @Column('text') url: string;
  /** The name of a method with `@OnChanges`, which is called in place of the URL. */
  @Column(NULLABLE_TEXT) subscription: string | null;
  @Column('text', { array: true }) resources: string[];
  /** Where the next page begins. */
  @Column('text') cursor: string;
  /** Whether the receiver has yet to be told that a snapshot has ended. */
  @Column('boolean') endsSnapshot: boolean;
  @Column('text') secret: string;
  @Column(NULLABLE_TEXT) oldSecret: string | null;
  @Column(NULLABLE_TIMESTAMP) oldExpiresAt: Date | null;
  /** Attempts since the last 2xx response. */
  @Column('integer', { default: 0 }) failures: number;
  @Column(NULLABLE_TIMESTAMP) failingSince: Date | null;
  @Column(NULLABLE_TIMESTAMP) nextAttemptAt: Date | null;
  /** When the sender last stored the cursor or ended an attempt. Null makes it look at the webhook at once. */
  @Column(NULLABLE_TIMESTAMP) movedAt: Date | null;
  /** When the oldest change was made that is known to wait for a failing or disabled webhook. */
  @Column(NULLABLE_TIMESTAMP) waitingSince: Date | null;
  @Column(NULLABLE_TIMESTAMP) lastSuccessAt: Date | null;
  @Column('integer', { nullable: true }) lastStatus: number | null;
  @Column(NULLABLE_TEXT) lastError: string | null;
  @Column(NULLABLE_TIMESTAMP) disabledAt: Date | null;
  /** When the database was recognized as a copy of another one. Nothing is sent until the operator resumes it. */
  @Column(NULLABLE_TIMESTAMP) pausedAt: Date | null;
}

export const WEBHOOK_STATES = ['active', 'failing', 'paused', 'disabled'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

export function stateOf({ disabledAt, pausedAt, failingSince }: WebhookEntity): WebhookState {
  if (disabledAt) return 'disabled';
  if (pausedAt) return 'paused';
  return failingSince ? 'failing' : 'active';
}
