import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NOW } from '../schema/columns';

/** A name of `@OnChanges` that a server has had. Each organization has a row in `webhooks` for it. */
@Entity('subscriptions')
export class SubscriptionEntity {
  @PrimaryColumn('text') name: string;
  /** When a server had it first. For organizations that are newer, nothing is skipped. */
  @Column(NOW) createdAt: Date;
}
