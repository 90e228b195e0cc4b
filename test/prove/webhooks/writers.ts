import { setTimeout as pause } from 'node:timers/promises';
import type { Tenant } from '../faults/cluster';
import { Writer } from '../feed/writer';
import type { Api } from '../support/api';
import { Tally } from '../support/ask';
import type { Random } from '../support/random';

const THINK_MS = 30;
/** Leads of a batch, at most. */
const BATCHED = 10;

/** A client of each organization, which writes without end. */
export class Writers {
  readonly answers = new Tally();
  private readonly running: Promise<void>[];
  private isStopping = false;

  constructor(apis: Api[], tenants: Tenant[], random: Random) {
    this.running = tenants.map(async ({ key }) => {
      const writer = new Writer(key, () => random.pick(apis).port, random, this.answers, BATCHED);
      for (; !this.isStopping; await pause(THINK_MS)) await writer.write();
    });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }
}
