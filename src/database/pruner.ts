import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { poolOf } from './data-source';
import { logFields } from './errors';

/** What expires in a table. */
export interface PruneTask {
  /** as the log names it */
  noun: string;
  /** removes at most `limit` rows, few at a time, so that nothing else waits; its result has a row for each */
  text: string;
  values: unknown[];
  batchSize: number;
}

const INTERVAL_MS = 60_000;

/** Removes what has expired, in batches, once a minute. Processes may do so at the same time. A server starts it. */
@Injectable()
export class Pruner implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Pruner.name);
  private readonly tasks: PruneTask[] = [];
  private timer?: NodeJS.Timeout;
  private lastRun = Promise.resolve();
  private isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Before it is started. */
  add(prune: PruneTask): void {
    this.tasks.push(prune);
  }

  start(): void {
    const prune = (): void => void (this.lastRun = this.lastRun.then(() => this.prune()));
    this.timer = setInterval(prune, INTERVAL_MS).unref();
    prune();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.isStopping = true;
    await this.lastRun;
  }

  /** Removes all that has expired. */
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
