import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { FeedClock } from '../feed/changes/feed-clock';
import { FeedDelivery } from '../feed/changes/feed-delivery';
import { READER_STATES, type ReaderState } from '../feed/changes/feed-reader.entity';
import { STATES } from '../feed/changes/feed-readers.sql';
import { FeedResources } from '../feed/changes/feed-resource';
import { Metrics } from './metrics';
import { probe } from './probe';

type States = Record<ReaderState, number> & { waitingSince: Date | null };

/** What operators watch of webhooks and methods with `@OnChanges`. Every process reports the states. */
@Injectable()
export class ReaderMetrics {
  constructor(
    metrics: Metrics,
    dataSource: DataSource,
    { names, numbers }: FeedResources,
    delivery: FeedDelivery,
    clock: FeedClock,
  ) {
    const registers = [metrics.registry];
    const loadStates = (): Promise<States | undefined> => probe<States>(dataSource, STATES, [names, numbers]);
    new Counter({
      name: 'lanyard_webhook_deliveries_total',
      help: 'Attempts to deliver a page to a webhook, by their outcome.',
      labelNames: ['outcome'],
      registers,
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(delivery.attempts)) this.inc({ outcome }, count);
      },
    });
    new Gauge({
      name: 'lanyard_webhooks',
      help: 'Webhooks by state.',
      labelNames: ['state'],
      registers,
      async collect() {
        const states = await loadStates();
        if (!states) return;
        for (const state of READER_STATES) this.set({ state }, states[state]);
      },
    });
    metrics.addGauge(
      'lanyard_webhook_oldest_change_seconds',
      'Age of the oldest change that has not been delivered to a webhook, including disabled webhooks, in seconds.',
      async () => {
        const since = (await loadStates())?.waitingSince;
        return since ? Math.max(0, (clock.now().getTime() - since.getTime()) / 1000) : 0;
      },
    );
  }
}
