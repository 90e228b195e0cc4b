import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { FeedClock } from '../changes/feed-clock';
import { FeedDelivery } from '../changes/feed-delivery';
import { READER_STATES, type ReaderState } from '../changes/feed-reader.entity';
import { STATES } from '../changes/feed-readers.sql';
import { FeedResources } from '../changes/feed-resource';
import { poolOf } from '../database/data-source';
import { Metrics } from './metrics';

/** Milliseconds for which a scrape waits for the database. */
const DATABASE_TIMEOUT_MS = 1_000;

type States = Record<ReaderState, number> & { waitingSince: Date | null };

/** What operators watch of webhooks and methods with `@OnChanges`. Every process reports the states. */
@Injectable()
export class ReaderMetrics {
  constructor(
    { registry }: Metrics,
    private readonly dataSource: DataSource,
    private readonly resources: FeedResources,
    delivery: FeedDelivery,
    clock: FeedClock,
  ) {
    const registers = [registry];
    const attempts: Counter<'outcome'> = new Counter({
      name: 'lanyard_webhook_deliveries_total',
      help: 'Attempts to deliver a page to a webhook, by their outcome.',
      labelNames: ['outcome'],
      registers,
      collect: () => {
        attempts.reset();
        for (const [outcome, count] of Object.entries(delivery.attempts)) attempts.inc({ outcome }, count);
      },
    });
    const byState: Gauge<'state'> = new Gauge({
      name: 'lanyard_webhooks',
      help: 'Webhooks by state.',
      labelNames: ['state'],
      registers,
      collect: async () => {
        const states = await this.loadStates();
        if (!states) return;
        for (const state of READER_STATES) byState.set({ state }, states[state]);
      },
    });
    const oldest: Gauge = new Gauge({
      name: 'lanyard_webhook_oldest_change_seconds',
      help: 'Age of the oldest change that has not been delivered to a webhook, including disabled webhooks, in seconds.',
      registers,
      collect: async () => {
        const since = (await this.loadStates())?.waitingSince;
        oldest.set(since ? Math.max(0, (clock.now().getTime() - since.getTime()) / 1000) : 0);
      },
    });
  }

  /** @returns undefined when PostgreSQL does not respond in time */
  private async loadStates(): Promise<States | undefined> {
    const { names, numbers } = this.resources;
    const query = { text: STATES, values: [names, numbers], query_timeout: DATABASE_TIMEOUT_MS };
    const result = await poolOf(this.dataSource)
      .query<States>(query)
      .catch(() => undefined);
    return result?.rows[0];
  }
}
