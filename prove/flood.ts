import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import * as services from '../scripts/services.mjs';
import { record } from './results';
import { ask, Tally } from './support/ask';
import { memoryOf } from './support/daemon';
import { percentile } from './support/figures';

/**
 * Floods a server with bodies of a kilobyte that unpack to 1 MiB of tiny values. All of them must be refused cheaply:
 * memory stays level, and neither health checks nor another organization have to wait.
 */

const FULL = { seconds: 60, connections: 200 };
const options = services.readOptions({
  seconds: { type: 'string', default: String(FULL.seconds) },
  connections: { type: 'string', default: String(FULL.connections) },
}) as typeof FULL;

const FLOODING_KEYS = 4;
const LIMITS = ['--max-tokens', '1000000', '--refill-rate', '1000000'];
const MAX_HEALTH_P99_MS = 250;
const MAX_READ_P99_MS = 500;
const MAX_GROWTH_MIB = 300;
const PROBE_EVERY_MS = 100;
const BODY_BYTES = 1_048_576;
const LEAD = { createdByEmail: 'ada@example.com', firstName: 'Ada', lastName: 'Rowe', companyName: 'Cobalt' };

/** A valid lead of exactly 1 MiB: an unknown field holds 350,000 empty objects. */
function bomb(): Buffer {
  const start = `${JSON.stringify(LEAD).slice(0, -1)},"unknown":[{}`;
  const values = ',{}'.repeat(Math.floor((BODY_BYTES - start.length - 2) / 3));
  return gzipSync(`${start}${values}]}`.padEnd(BODY_BYTES), { level: 9 });
}

/** What was seen while the flood lasted. */
class Watch {
  readonly flood = new Tally();
  readonly probes = new Tally();
  readonly healthMs: number[] = [];
  readonly readMs: number[] = [];
  readonly memoryMib: number[] = [];
  private isOver = false;

  constructor(
    private readonly port: number,
    private readonly pid: number,
  ) {}

  async during(seconds: number, floodingKeys: string[], readingKey: string): Promise<void> {
    this.memoryMib.push(memoryOf(this.pid));
    const body = bomb();
    const clients = Array.from({ length: options.connections }, (_, n) =>
      this.send(body, floodingKeys[n % floodingKeys.length] as string),
    );
    const watching = this.watch(readingKey);
    await pause(seconds * 1000);
    this.isOver = true;
    await Promise.all([...clients, watching]);
  }

  /** One connection, which sends its next request when it has an answer. */
  private async send(body: Buffer, key: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'content-encoding': 'gzip' };
    while (!this.isOver) {
      const answer = await ask(this.port, { method: 'POST', path: '/api/v0/leads', key, headers, body, agent });
      this.flood.add(answer);
      if (answer.error) await pause(PROBE_EVERY_MS); // a server that is gone refuses without end
    }
    agent.destroy();
  }

  /** Asks at a fixed rate, however long the answers take, so that no slow moment goes unseen. */
  private async watch(key: string): Promise<void> {
    const asked: Promise<void>[] = [];
    while (!this.isOver) {
      asked.push(this.probe('/health/live', this.healthMs), this.probe('/api/v0/leads?limit=50', this.readMs, key));
      this.memoryMib.push(memoryOf(this.pid));
      await pause(PROBE_EVERY_MS);
    }
    await Promise.all(asked);
  }

  private async probe(path: string, tookMs: number[], key?: string): Promise<void> {
    const answer = await ask(this.port, { method: 'GET', path, key });
    this.probes.add(answer);
    tookMs.push(answer.tookMs);
  }

  /** @returns the figures in a line, and whether each is as promised */
  conclude(): { measured: string; kept: boolean } {
    const { flood, probes } = this;
    const [startMib = 0, maxMib] = [this.memoryMib[0], Math.max(...this.memoryMib)];
    const isRefusal = (what: string): boolean => what === '413' || what === '503';
    const [health, read] = [percentile(this.healthMs, 0.99), percentile(this.readMs, 0.99)];
    const measured =
      `${options.seconds} s, ${options.connections} connections: ${flood.total} requests: ${flood.toString()}; ` +
      `p99 of /health/live ${health.toFixed(0)} ms, of another organization's reads ${read.toFixed(0)} ms ` +
      `(${probes.toString()}); memory ${startMib.toFixed(0)} MiB at first, ${maxMib.toFixed(0)} MiB at most`;
    const kept =
      flood.total > 0 &&
      flood.countOf(isRefusal) === flood.total &&
      probes.countOf((what) => what === '200') === probes.total &&
      health < MAX_HEALTH_P99_MS &&
      read < MAX_READ_P99_MS &&
      maxMib <= startMib + MAX_GROWTH_MIB;
    return { measured, kept };
  }
}

void services.run(async (defer: (undo: () => Promise<unknown>) => void) => {
  const own = await services.startServices(options, defer);
  const server = await services.startServer(own, services.LANYARD);
  const port = Number(new URL(server.url).port);
  const { key: reading } = await services.makeOrganization(own, 'Reading', undefined, LIMITS);
  const { id, key } = await services.makeOrganization(own, 'Flooding', undefined, LIMITS);
  const flooding: string[] = [key];
  while (flooding.length < FLOODING_KEYS) {
    const issued = await services.operator(own, ['keys', 'issue', '--organization', String(id), ...LIMITS]);
    flooding.push(issued.key as string);
  }
  // What is compiled and connected at the first requests is not the flood's doing.
  for (const key of [...flooding, reading]) {
    await ask(port, { method: 'POST', path: '/api/v0/leads', key, body: LEAD });
    await ask(port, { method: 'GET', path: '/api/v0/leads?limit=50', key });
  }
  const watch = new Watch(port, server.pid ?? 0);
  await watch.during(options.seconds, flooding, reading);
  const { measured, kept } = watch.conclude();
  const isFull = options.seconds >= FULL.seconds && options.connections >= FULL.connections;
  record({ promise: 'compressed bodies of many small values', measured, kept }, isFull);
  return kept ? 0 : 1;
});
