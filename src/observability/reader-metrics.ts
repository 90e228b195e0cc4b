import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { poolOf } from '../database/data-source';
import { Metrics } from './metrics';
import { PendingWebhooks } from '../webhooks/pending-webhooks';
import { WebhookClock } from '../changes/feed-clock';
import { WEBHOOK_STATES, type WebhookState } from '../changes/feed-reader.entity';
import { STATES } from '../changes/feed-readers.sql';

/** Milliseconds for which a scrape waits for the database. */
const DATABASE_TIMEOUT_MS = 1_000;

type States = Record<WebhookState, number> & {
  waitingSince: Date | null;
};

/** What operators watch of webhooks. Every process reports the states; only the leader knows of changes it has just noticed. */
@Injectable()
export class WebhookMetrics {
  readonly deliveries: Counter<'outcome'>;

  constructor(
    { registry }: Metrics,
    private readonly dataSource: DataSource,
    private readonly pending: PendingWebhooks,
    private readonly clock: WebhookClock,
  ) {
    const registers = [registry];
    this.deliveries = new Counter({
      name: 'lanyard_webhook_deliveries_total',
      help: 'Attempts to deliver a page to a webhook, by their outcome.',
      labelNames: ['outcome'],
      registers,
    });
    const byState: Gauge<'state'> = new Gauge({
      name: 'lanyard_webhooks',
      help: 'Webhooks by state.',
      labelNames: ['state'],
      registers,
      collect: async () => {
        const states = await this.loadStates();
        if (!states) return;
        for (const state of WEBHOOK_STATES) byState.set({ state }, states[state]);
      },
    });
    const oldest: Gauge = new Gauge({
      name: 'lanyard_webhook_oldest_change_seconds',
      help: 'Age of the oldest change that has not been delivered to a webhook, including disabled webhooks, in seconds.',
      registers,
      collect: async () => oldest.set(this.ageOf([(await this.loadStates())?.waitingSince, this.pending.waitingSince])),
    });
  }

  private ageOf(moments: (Date | null | undefined)[]): number {
    const now = this.clock.now().getTime();
    return Math.max(0, ...moments.map((moment) => (moment ? (now - moment.getTime()) / 1000 : 0)));
  }

  /** @returns undefined when PostgreSQL does not respond in time */
  private async loadStates(): Promise<States | undefined> {
    const query = { text: STATES, query_timeout: DATABASE_TIMEOUT_MS };
    const result = await poolOf(this.dataSource)
      .query<States>(query)
      .catch(() => undefined);
    return result?.rows[0];
  }
}
