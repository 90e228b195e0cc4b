import { setTimeout as pause } from 'node:timers/promises';
import { ask, Tally } from '../support/ask';
import { memoryOf } from '../support/daemon';
import { percentile } from '../support/figures';

const PROBE_EVERY_MS = 100;
/** Creates are fewer, so that the organization's list stays short. */
const CREATE_EVERY_MS = 500;
const PERCENTILE = 0.99;

const LEAD = { createdByEmail: 'bo@example.com', firstName: 'Bo', lastName: 'Lind', companyName: 'Umber' };

/** What a flood may cost others: milliseconds at p99, and at most for creates; MiB of the server's memory. */
export interface Limits {
  healthMs: number;
  readMs: number;
  createMs: number;
  growthMib: number;
}

/** What is seen while a flood lasts: its answers, how long health checks and another organization wait, and memory. */
export class Watch {
  readonly flood = new Tally();
  isOver = false;
  private readonly probes = new Tally();
  private readonly healthMs: number[] = [];
  private readonly readMs: number[] = [];
  private readonly createMs: number[] = [];
  private readonly memoryMib: number[] = [];

  /** @param key of the other organization */
  constructor(
    private readonly port: number,
    private readonly pid: number,
    private readonly key: string,
    private readonly limits: Limits,
  ) {}

  /** @param flood ends soon after `isOver` */
  async during(seconds: number, flood: () => Promise<unknown>): Promise<void> {
    this.memoryMib.push(memoryOf(this.pid));
    const running = Promise.all([flood(), this.watch()]);
    await pause(seconds * 1000);
    this.isOver = true;
    await running;
  }

  /** Asks at a fixed rate, however long the answers take, so that no slow moment goes unseen. */
  private async watch(): Promise<void> {
    const asked: Promise<void>[] = [];
    for (let ms = 0; !this.isOver; ms += PROBE_EVERY_MS) {
      asked.push(this.probe('/health/live', this.healthMs), this.probe('/api/v0/leads?limit=50', this.readMs));
      if (ms % CREATE_EVERY_MS === 0) {
        asked.push(this.probe('/api/v0/leads', this.createMs, LEAD));
        asked.push(this.probe('/api/v0/industryEvents', this.createMs, { name: `Other ${ms}` }));
      }
      this.memoryMib.push(memoryOf(this.pid));
      await pause(PROBE_EVERY_MS);
    }
    await Promise.all(asked);
  }

  private async probe(path: string, tookMs: number[], body?: object): Promise<void> {
    const answer = await ask(this.port, { method: body ? 'POST' : 'GET', path, key: this.key, body });
    this.probes.add(answer);
    tookMs.push(answer.tookMs);
  }

  worst() {
    return {
      health: percentile(this.healthMs, PERCENTILE),
      read: percentile(this.readMs, PERCENTILE),
      create: Math.max(...this.createMs),
    };
  }

  /**
   * @param isAllowed whether the flood may be answered so
   * @returns the figures in a line, and whether each is as promised
   */
  conclude(isAllowed: (what: string) => boolean): { measured: string; kept: boolean } {
    const { flood, probes, limits } = this;
    const [startMib = 0, maxMib] = [this.memoryMib[0], Math.max(...this.memoryMib)];
    const { health, read, create } = this.worst();
    const measured =
      `${flood.total} requests: ${flood.toString()}; p99 of /health/live ${health.toFixed(0)} ms, of another ` +
      `organization's reads ${read.toFixed(0)} ms, its slowest create ${create.toFixed(0)} ms (${probes.toString()}); memory ` +
      `${startMib.toFixed(0)} MiB at first, ${maxMib.toFixed(0)} MiB at most`;
    const kept =
      flood.total > 0 &&
      flood.countOf(isAllowed) === flood.total &&
      probes.countOf((what) => what === '200') === probes.total &&
      health < limits.healthMs &&
      read < limits.readMs &&
      create < limits.createMs &&
      maxMib <= startMib + limits.growthMib;
    return { measured, kept };
  }
}
