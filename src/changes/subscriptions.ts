import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ChangesService } from './changes.service';
import { Transactions } from '../database/transactions';
import { uuidV7 } from '../database/uuid';
import { type Subscriber, Subscribers } from './subscribers';
import { WebhookLeader } from './feed-leader';
import { WebhookEntity } from './feed-reader.entity';
import { ADD_SUBSCRIPTIONS, MISSING_ROWS, RETRY_SUBSCRIPTIONS } from './subscriptions.sql';

/** A row that a subscription lacks, or has for other resources. */
interface MissingRow {
  name: string;
  organizationId: number;
  /** Whether the organization was there before the subscription. */
  isOlder: boolean;
  /** Id of the row that has other resources. */
  id: string | null;
}

/** Keeps a row in `webhooks` for each subscription and organization. All of it runs on the leader's connection. */
@Injectable()
export class Subscriptions {
  private isRegistered = false;

  constructor(
    private readonly subscribers: Subscribers,
    private readonly leader: WebhookLeader,
    private readonly changes: ChangesService,
    private readonly transactions: Transactions,
    @InjectRepository(WebhookEntity) private readonly webhooks: Repository<WebhookEntity>,
  ) {}

  /** Adds rows for organizations that have none. */
  async addRows(): Promise<void> {
    const { all, names } = this.subscribers;
    if (all.length === 0) return;
    if (!this.isRegistered) {
      await this.leader.run((manager) => manager.query(ADD_SUBSCRIPTIONS, [names]));
      // The server may have been started to bring a method that no longer throws.
      await this.leader.run((manager) => manager.query(RETRY_SUBSCRIPTIONS, [names]));
      this.isRegistered = true;
    }
    const resources = JSON.stringify(Object.fromEntries(all.map((each) => [each.name, each.resources])));
    const values = [names, resources];
    const missing = await this.leader.run((manager) => manager.query<MissingRow[]>(MISSING_ROWS, values));
    for (const row of missing) {
      const subscriber = all.find(({ name }) => name === row.name);
      if (subscriber) await this.addRow(subscriber, row);
    }
  }

  private async addRow({ name, resources, start }: Subscriber, row: MissingRow): Promise<void> {
    const { organizationId, isOlder, id } = row;
    const since = start === 'now' && isOlder && id === null ? 'now' : undefined;
    const cursor = await this.leader.run((manager) =>
      this.transactions.runOn(manager, () => this.changes.start({ organizationId, keyId: '' }, { resources, since }), {
        isBackground: true,
      }),
    );
    const values = { resources, cursor, endsSnapshot: start === 'snapshot' || id !== null };
    await this.leader.run(async (manager) => {
      const webhooks = manager.withRepository(this.webhooks);
      if (id !== null) await webhooks.update({ id }, { ...values, movedAt: null });
      else {
        const url = `in-process:${encodeURIComponent(name)}`;
        const added = { ...values, id: uuidV7(), organizationId, subscription: name, url, secret: '' };
        await webhooks.createQueryBuilder().insert().values(added).orIgnore().execute();
      }
    });
  }
}
