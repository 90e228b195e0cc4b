import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { poolOf } from './data-source';
import { logFields, settledQuery } from './errors';

/** How the expired rows of a table are deleted. */
export interface PruneTask {
  /** What is pruned, as the log calls it. */
  noun: string;
  /** A statement that deletes at most as many rows as its last parameter says, and returns one row for each. */
  text: string;
  /** The values of its other parameters. */
  values: unknown[];
}

const INTERVAL_MS = 60_000;
/** How many rows one statement prunes: few enough that it stays within its timeout, and that nothing else waits. */
const BATCH_SIZE = 1000;

/** Deletes expired rows in batches once a minute. Several servers may do so at the same time; commands do not. */
export class Pruner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Pruner.name);
  private timer?: NodeJS.Timeout;
  private lastRun = Promise.resolve();
  private isStopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly tasks: readonly PruneTask[],
  ) {}

  onApplicationBootstrap(): void {
    const prune = (): void => void (this.lastRun = this.lastRun.then(() => this.prune()));
    this.timer = setInterval(prune, INTERVAL_MS).unref();
    prune();
  }

  /** Waits for the batch under way, because the connections are closed next. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.isStopping = true;
    await this.lastRun;
  }

  /** One table that cannot be pruned is logged, and does not keep the others from it. */
  async prune(): Promise<void> {
    for (const { noun, text, values } of this.tasks) {
      try {
        for (let rows = BATCH_SIZE; rows === BATCH_SIZE && !this.isStopping;) {
          const pruned = poolOf(this.dataSource).query(text, [...values, BATCH_SIZE]);
          rows = (await settledQuery(text, pruned)).rowCount ?? 0;
        }
      } catch (error) {
        this.logger.warn({ message: `Cannot prune expired ${noun}`, ...logFields(error) });
      }
    }
  }
}
