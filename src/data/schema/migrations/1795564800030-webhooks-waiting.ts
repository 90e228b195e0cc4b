import { SqlMigration } from '../sql-migration';

export class WebhooksWaiting1795564800030 extends SqlMigration {
  protected readonly upSql = `
      alter table webhooks rename column tells_end to ends_snapshot;
      alter table webhooks rename column next_try_at to next_attempt_at;
      alter table webhooks rename column last_fault to last_error;
      alter table webhooks add waiting_since timestamptz(3); -- the oldest change that waits, of failing and disabled ones
    `;

  protected readonly downSql = `
      alter table webhooks drop waiting_since;
      alter table webhooks rename column last_error to last_fault;
      alter table webhooks rename column next_attempt_at to next_try_at;
      alter table webhooks rename column ends_snapshot to tells_end;
    `;
}
