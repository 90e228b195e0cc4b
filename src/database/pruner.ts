import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { poolOf } from './data-source';
import { logFields } from './errors';

/** How the expired rows of a table are deleted. */
export interface PruneTask {
  /** What is pruned, as the log calls it. */
  noun: string;
  /** A statement that deletes at most `batchSize` rows, few enough that nothing else waits. It returns one row for each. */
  text: string;
  values: unknown[];
  batchSize: number;
}

const INTERVAL_MS = 60_000;

/** Deletes expired rows in batches once a minute. Several processes may do so at the same time. Only servers start it. */
@Injectable()
export class Pruner implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Pruner.name);
  private readonly tasks: PruneTask[] = [];
  private timer?: NodeJS.Timeout;
  private lastRun = Promise.resolve();
  private isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Adds a task. Call it before start(). */
  add(prune: PruneTask): void {
    this.tasks.push(prune);
  }

  start(): void {
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

  /** Deletes all expired rows. */
  async prune(): Promise<void> {
    for (const { noun, text, values, batchSize } of this.tasks) {
      try {
        for (let rows = batchSize; rows === batchSize && !this.isStopping;) {
          rows = (await poolOf(this.dataSource).query(text, values)).rowCount ?? 0;
        }
      } catch (error) {
        this.logger.warn({ message: `Cannot prune expired ${noun}`, ...logFields(error) });
      }
    }
  }
}
