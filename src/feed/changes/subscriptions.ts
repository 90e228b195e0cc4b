import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ReservedConnection } from '../../data/database/reserved-connection';
import { uuidV7 } from '../../data/database/uuid';
import { FeedReaderEntity } from './feed-reader.entity';
import { FeedReaders } from './feed-readers';
import { type Subscriber, Subscribers } from './subscribers';
import { MISSING_ROWS, REGISTER_SUBSCRIPTIONS } from './subscriptions.sql';

/** A row that a subscription lacks, or has for other resources. */
interface MissingRow {
  name: string;
  organizationId: number;
  /** Whether the organization was there before the subscription. */
  isOlder: boolean;
  /** Id of the row that has other resources. */
  id: string | null;
}

/** Keeps a row in `feed_readers` for each subscription and organization. All of it runs on the leader's connection. */
@Injectable()
export class Subscriptions {
  private isRegistered = false;

  constructor(
    private readonly subscribers: Subscribers,
    private readonly connection: ReservedConnection,
    private readonly feed: FeedReaders,
    @InjectRepository(FeedReaderEntity) private readonly readers: Repository<FeedReaderEntity>,
  ) {}

  /** Adds rows for organizations that have none. */
  async addRows(): Promise<void> {
    const { all, names } = this.subscribers;
    if (all.length === 0) return;
    // The server may have been started to bring a method that no longer throws.
    if (!this.isRegistered) await this.connection.run((manager) => manager.query(REGISTER_SUBSCRIPTIONS, [names]));
    this.isRegistered = true;
    const resources = JSON.stringify(Object.fromEntries(all.map((each) => [each.name, each.resources])));
    const values = [names, resources];
    const missing = await this.connection.run((manager) => manager.query<MissingRow[]>(MISSING_ROWS, values));
    for (const row of missing) {
      const subscriber = all.find(({ name }) => name === row.name);
      if (subscriber) await this.addRow(subscriber, row);
    }
  }

  private async addRow({ name, resources, start }: Subscriber, row: MissingRow): Promise<void> {
    const { organizationId, isOlder, id } = row;
    const since = start === 'now' && isOlder && id === null ? 'now' : undefined;
    const cursor = await this.feed.start(organizationId, resources, since);
    const values = {
      id: id ?? uuidV7(),
      organizationId,
      subscription: name,
      resources,
      cursor,
      endsSnapshot: start === 'snapshot' || id !== null,
      caughtUpTo: null,
    };
    await this.connection.run((manager) => manager.withRepository(this.readers).upsert(values, ['id']));
  }
}
