import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { Config } from '../config';
import { poolOf } from '../data/database/data-source';
import { Writes } from '../data/database/writes';
import { listen } from '../http/server/listen';
import { TokenBucketStore } from '../http/rate-limit/token-bucket.store';
import { probe } from './probe';
import type { Observer } from './requests';

/**
 * Upper bounds in seconds. A request takes a few milliseconds; one that waits for a slow database takes at most two seconds.
 */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60];

const SELECT_SIZE = 'select pg_database_size(current_database())::float8 as size';

/** Metrics for operators, at `/metrics` on a port of its own. They need no key, so the port must not be public. */
@Injectable()
export class Metrics implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly registry = new Registry();
  private readonly registers = [this.registry];
  private server?: Server;

  private readonly durations = new Histogram({
    name: 'lanyard_http_request_duration_seconds',
    help: 'Time from the headers of a request to the last byte of its response, in seconds.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: this.registers,
  });

  private readonly decisions = new Counter({
    name: 'lanyard_bucket_decisions_total',
    help: 'Requests with a valid key, by whether their token bucket admitted them or rejected them with 429.',
    labelNames: ['decision'] as const,
    registers: this.registers,
  });

  private readonly outOfResources = new Counter({
    name: 'lanyard_database_out_of_resources_total',
    help: 'Requests rejected with 503 because PostgreSQL lacks disk space (53100), memory (53200) or connections (53300).',
    labelNames: ['sqlstate'] as const,
    registers: this.registers,
  });

  constructor(
    private readonly config: Config,
    dataSource: DataSource,
    writes: Writes,
    buckets: TokenBucketStore,
  ) {
    this.addGauge(
      'lanyard_redis_degraded',
      '1 while Redis is unreachable and each process enforces rate limits on its own.',
      () => Number(buckets.isDegraded),
    );
    new Counter({
      name: 'lanyard_bucket_decisions_without_redis_total',
      help: 'Rate-limit decisions that this process made without Redis.',
      registers: this.registers,
      collect() {
        this.reset();
        this.inc(buckets.degradedDecisions);
      },
    });
    new Gauge({
      name: 'lanyard_database_connections',
      help: 'Connections of this process to PostgreSQL, by state.',
      labelNames: ['state'],
      registers: this.registers,
      collect() {
        const { totalCount, idleCount } = poolOf(dataSource);
        this.set({ state: 'used' }, totalCount - idleCount);
        this.set({ state: 'idle' }, idleCount);
      },
    });
    this.addGauge(
      'lanyard_database_connections_max',
      'Maximum number of connections of this process to PostgreSQL.',
      () => poolOf(dataSource).options.max,
    );
    this.addGauge(
      'lanyard_database_waiting_requests',
      'Requests that are waiting for a connection to PostgreSQL.',
      () => writes.waitingRequests,
    );
    this.addGauge('lanyard_database_up', 'Whether PostgreSQL responded during the scrape.', async () =>
      Number((await probe(dataSource, 'select 1')) !== undefined),
    );
    this.addGauge(
      'lanyard_database_size_bytes',
      'Size of the database on disk, as PostgreSQL last reported it.',
      async () => (await probe<{ size: number }>(dataSource, SELECT_SIZE))?.size,
    );
  }

  readonly observe: Observer = ({ method, route, status, milliseconds }, { caller, res }) => {
    this.durations.observe({ method, route, status }, milliseconds / 1000);
    const sqlstate = res?.locals.outOfResources;
    if (sqlstate !== undefined) this.outOfResources.inc({ sqlstate });
    // This also counts a request whose client left before the response was ready.
    if (caller) this.decisions.inc({ decision: res?.statusCode === 429 ? 'rejected' : 'admitted' });
  };

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort, host } = this.config;
    if (metricsPort === undefined) return;
    collectDefaultMetrics({ register: this.registry });
    this.server = createServer((request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end();
      this.registry.metrics().then(
        (text) => void response.writeHead(200, { 'Content-Type': this.registry.contentType }).end(text),
        () => void response.writeHead(500).end(),
      );
    });
    await listen(this.server, { host, port: metricsPort }, 'LANYARD_METRICS_PORT');
  }

  /** The port that the server listens on, even if any free one was requested. */
  get port(): number {
    return (this.server?.address() as AddressInfo).port;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  /**
   * Adds a value that is known elsewhere, and read at each scrape instead of being counted at each request.
   * @param read returns undefined to keep what was read before
   */
  addGauge(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      registers: this.registers,
      async collect() {
        const value = await read();
        if (value !== undefined) this.set(value);
      },
    });
  }
}
