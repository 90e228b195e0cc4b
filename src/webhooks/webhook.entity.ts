import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { MOMENT, NOW, RefersTo, TEXT } from '../database/columns';
import { WithFunctions } from '../database/functions';
import { WEBHOOK_FUNCTIONS } from './webhook.functions';

/** A receiver of an organization's changes, and how far it has them. */
@Entity('webhooks')
@Index('webhooks_organization_idx', ['organizationId', 'createdAt', 'id'])
@RefersTo('OrganizationEntity', 'organizationId', 'webhooks_organization_fkey')
@WithFunctions(WEBHOOK_FUNCTIONS)
export class WebhookEntity {
  @PrimaryColumn('uuid') id: string;
  @Column('integer') organizationId: number;
  @Column(NOW) createdAt: Date;
  @Column('text') url: string;
  @Column('text', { array: true }) resources: string[];
  /** where the page begins that is sent next */
  @Column('text') cursor: string;
  /** whether a first reading was begun, of whose end the receiver was not told yet */
  @Column('boolean') tellsEnd: boolean;
  @Column('text') secret: string;
  @Column(TEXT) oldSecret: string | null;
  @Column(MOMENT) oldExpiresAt: Date | null;
  /** tries since the last yes */
  @Column('integer', { default: 0 }) failures: number;
  @Column(MOMENT) failingSince: Date | null;
  @Column(MOMENT) nextTryAt: Date | null;
  /** when a try ended, or the cursor was stored */
  @Column(MOMENT) movedAt: Date | null;
  @Column(MOMENT) lastSuccessAt: Date | null;
  @Column('integer', { nullable: true }) lastStatus: number | null;
  @Column(TEXT) lastFault: string | null;
  @Column(MOMENT) disabledAt: Date | null;
  /** When the database was recognized as a copy of another one. Nothing is sent until the operator resumes it. */
  @Column(MOMENT) pausedAt: Date | null;
}

export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled';

export function stateOf({ disabledAt, pausedAt, failingSince }: WebhookEntity): WebhookState {
  if (disabledAt) return 'disabled';
  if (pausedAt) return 'paused';
  return failingSince ? 'failing' : 'active';
}
