import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { poolOf } from './data-source';
import { logFields } from './errors';

/** What expires in a table. */
export interface Sweep {
  /** as the log names it */
  what: string;
  /** removes at most `limit` rows, few at a time, so that nothing else waits; its result has a row for each */
  text: string;
  values: unknown[];
  limit: number;
}

const INTERVAL_MS = 60_000;

/** Removes what has expired, in batches, once a minute. Processes may do so at the same time. A server starts it. */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly logger = new Logger(Sweeper.name);
  private readonly sweeps: Sweep[] = [];
  private timer?: NodeJS.Timeout;
  private last = Promise.resolve();
  private isStopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Before it is started. */
  add(sweep: Sweep): void {
    this.sweeps.push(sweep);
  }

  start(): void {
    const sweep = (): void => void (this.last = this.last.then(() => this.sweep()));
    this.timer = setInterval(sweep, INTERVAL_MS).unref();
    sweep();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.isStopping = true;
    await this.last;
  }

  /** Removes all that has expired. */
  async sweep(): Promise<void> {
    for (const { what, text, values, limit } of this.sweeps) {
      try {
        for (let rows = limit; rows === limit && !this.isStopping;) {
          rows = (await poolOf(this.dataSource).query(text, values)).rowCount ?? 0;
        }
      } catch (error) {
        this.logger.warn({ message: `Cannot prune expired ${what}`, ...logFields(error) });
      }
    }
  }
}
