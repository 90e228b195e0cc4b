import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TIMESTAMP } from '../../data/schema/columns';

/** A name of `@OnChanges` that a server has had. Each organization has a row in `feed_readers` for it. */
@Entity('subscriptions')
export class SubscriptionEntity {
  @PrimaryColumn('text') name: string;
  /** When a server had it first. For organizations that are newer, nothing is skipped. */
  @Column(TIMESTAMP) createdAt: Date;
}
