import { SqlMigration } from '../sql-migration';

/** Each method with `@OnChanges` has a row in `webhooks` per organization. */
export class Subscriptions1795564800060 extends SqlMigration {
  protected readonly upSql = `
      create table subscriptions (
        name text constraint subscriptions_pkey primary key,
        created_at timestamptz(3) not null default now()
      );
      alter table webhooks add subscription text; -- the method to call, in place of the URL
      create unique index webhooks_subscription_idx on webhooks (subscription, organization_id);
    `;

  protected readonly downSql = `
      delete from webhooks where subscription is not null;
      alter table webhooks drop subscription;
      drop table subscriptions;
    `;
}
